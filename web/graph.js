// SPDX-License-Identifier: Apache-2.0
// Draws the flame graph. The canvas is as large as what can be seen of it, never larger: a
// scrolling element around it has the height of the whole. Only boxes of a device pixel or more
// are looked at, so a drawing costs the same whether the profile has a thousand nodes or a million.

import { ROOT } from './profile.js';
import { LabelFitter } from './text.js';

const FONT = '12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';
const LABEL_ROOM = 28; // a narrower box gets no label
const LABEL_INSET = 5;
const ZOOM_TIME = 180;

/**
 * A box on the screen, in CSS pixels from the canvas's corner.
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

export class Graph {
  /**
   * @param {HTMLCanvasElement} canvas @param {HTMLElement} scroller around it
   * @param {HTMLElement} spacer below the canvas, as high as there is to scroll
   * @param {import('./profile.js').Profile} profile
   */
  constructor(canvas, scroller, spacer, profile) {
    this.canvas = canvas;
    this.scroller = scroller;
    this.spacer = spacer;
    this.profile = profile;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', {alpha: false}));
    this.fitter = new LabelFitter(this.context);
    /** @type {import('./colors.js').Palette | null} */ this.palette = null;
    /** @type {Uint8Array | null} by frame */ this.matches = null;
    this.background = '#fff';
    this.outline = '#000';
    this.icicle = false;
    this.zoomed = ROOT;
    this.selected = -1;
    this.hovered = -1;
    this.width = this.height = 0; // of the canvas in CSS pixels
    this.ratio = 1;
    this.scrolled = 0; // scroller.scrollTop, which is slow to ask for
    this.rowHeight = matchMedia('(pointer: coarse)').matches ? 26 : 21;
    // What the canvas shows from left to right, in the profile's unit. Moves while zooming.
    this.from = 0;
    this.span = profile.total[ROOT];
    this.drawing = 0;
    /** @type {{from: number, span: number, start: number} | null} */ this.motion = null;
    scroller.addEventListener('scroll', () => {
      this.scrolled = scroller.scrollTop;
      this.redraw();
    });
    new ResizeObserver(() => this.resize()).observe(scroller);
  }

  /** How many levels the zoomed part has, with those it hangs from. */
  get levels() {
    return this.profile.level[this.zoomed] + this.profile.height[this.zoomed] + 1;
  }

  get contentHeight() {
    return Math.max(this.levels * this.rowHeight, this.height);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const fromRoot = this.height ? this.fromRoot : 0; // the first time there is nothing to keep
    this.width = this.scroller.clientWidth;
    this.height = this.scroller.clientHeight;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(this.width * ratio));
    this.canvas.height = Math.max(1, Math.round(this.height * ratio));
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.layOut();
    this.scrollFromRoot(fromRoot);
    this.showLevel(this.profile.level[this.zoomed]);
    this.draw();
  }

  layOut() {
    this.spacer.style.height = `${this.contentHeight - this.height}px`;
  }

  /** How far the visible part is from the root's edge. */
  get fromRoot() {
    return this.icicle ? this.scrolled
      : Math.max(0, this.contentHeight - this.height - this.scrolled);
  }

  /** @param {number} distance of the visible part from the root's edge */
  scrollFromRoot(distance) {
    this.scrollTo(this.icicle ? distance : this.contentHeight - this.height - distance);
  }

  /** @param {number} top */
  scrollTo(top) {
    this.scroller.scrollTop = top;
    this.scrolled = this.scroller.scrollTop; // not less than 0, not more than there is
  }

  /** @param {boolean} icicle */
  setIcicle(icicle) {
    this.icicle = icicle;
    this.layOut();
    this.scrollFromRoot(0);
    this.showLevel(this.profile.level[this.zoomed]);
    this.redraw();
  }

  /** @param {number} node @param {boolean} animated */
  zoomTo(node, animated) {
    const {fromRoot} = this;
    this.zoomed = node;
    this.layOut();
    this.scrollFromRoot(fromRoot);
    this.showLevel(this.profile.level[node]);
    this.motion = animated && !matchMedia('(prefers-reduced-motion: reduce)').matches
      ? {from: this.from, span: this.span, start: performance.now()} : null;
    if (!this.motion) {
      this.from = this.profile.start[node];
      this.span = this.profile.total[node];
    }
    this.redraw();
  }

  /** Scrolls so that a level can be seen. @param {number} level */
  showLevel(level) {
    const top = this.rowTop(level);
    if (top < 0)
      this.scrollTo(this.scrolled + top - this.rowHeight);
    else if (top + this.rowHeight > this.height)
      this.scrollTo(this.scrolled + top + 2 * this.rowHeight - this.height);
  }

  /** The upper edge of a level on the canvas. @param {number} level */
  rowTop(level) {
    const y = this.icicle ? level * this.rowHeight
      : this.contentHeight - (level + 1) * this.rowHeight;
    return y - this.scrolled;
  }

  /** @param {number} y on the canvas */
  levelAt(y) {
    const fromTop = y + this.scrolled;
    return Math.floor((this.icicle ? fromTop : this.contentHeight - fromTop) / this.rowHeight);
  }

  /** A node's left and right edge in device pixels. @param {number} node */
  edges(node) {
    const scale = this.canvas.width / this.span;
    const left = (this.profile.start[node] - this.from) * scale;
    return [Math.round(left), Math.round(left + this.profile.total[node] * scale)];
  }

  /** Where a node is drawn; null if it has no pixel. @param {number} node @returns {Box | null} */
  boxOf(node) {
    const [left, right] = this.edges(node).map(x => Math.min(this.canvas.width, Math.max(0, x)));
    if (right <= left)
      return null;
    return {x: left / this.ratio, y: this.rowTop(this.profile.level[node]),
      width: (right - left) / this.ratio, height: this.rowHeight};
  }

  /** The node drawn at a point of the canvas, or -1. @param {number} x @param {number} y */
  nodeAt(x, y) {
    const level = this.levelAt(y);
    const pixel = Math.floor(x * this.ratio);
    const {profile} = this;
    let node = ROOT;
    while (profile.level[node] < level) {
      let found = -1;
      for (const callee of profile.callees(node)) {
        const [left, right] = this.edges(callee);
        if (right > pixel) {
          found = left <= pixel ? callee : -1;
          break;
        }
      }
      if (found < 0)
        return -1;
      node = found;
    }
    return level >= 0 && profile.level[node] === level ? node : -1;
  }

  redraw() {
    if (!this.drawing)
      this.drawing = requestAnimationFrame(() => {
        this.drawing = 0;
        if (window.devicePixelRatio !== this.ratio)
          this.resize();
        this.draw();
      });
  }

  move() {
    if (!this.motion)
      return;
    const done = Math.min(1, (performance.now() - this.motion.start) / ZOOM_TIME);
    const eased = 1 - (1 - done) ** 3;
    const {start, total} = this.profile;
    this.from = this.motion.from + (start[this.zoomed] - this.motion.from) * eased;
    this.span = this.motion.span + (total[this.zoomed] - this.motion.span) * eased;
    if (done < 1)
      this.redraw();
    else
      this.motion = null;
  }

  draw() {
    const {profile, context, canvas} = this;
    if (!this.palette || !this.span)
      return;
    this.move();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    this.prepareText();
    const [a, b] = [this.levelAt(0), this.levelAt(this.height - 1)];
    const [first, last] = [Math.min(a, b), Math.max(a, b)];
    const {level, end, parent, start, total} = profile;
    const scale = canvas.width / this.span;
    for (let i = 0; i < profile.count;) {
      const exact = (start[i] - this.from) * scale;
      const left = Math.round(exact);
      const right = Math.round(exact + total[i] * scale);
      if (left >= canvas.width && i !== ROOT) {
        i = end[parent[i]]; // all further callees of its caller are out of sight too
      } else if (right <= left || right <= 0 || level[i] > last) {
        i = end[i];
      } else {
        if (level[i] >= first)
          this.drawBox(i, Math.max(left, 0), Math.min(right, canvas.width));
        i++;
      }
    }
    this.drawOutline(this.hovered, 1);
    this.drawOutline(this.selected, 2);
  }

  prepareText() {
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
    if ('fontKerning' in this.context)
      this.context.fontKerning = 'none'; // so that widths of characters add up
  }

  /** @param {number} node @returns {[string, string]} of the box and of its label */
  colorsOf(node) {
    const palette = /** @type {import('./colors.js').Palette} */ (this.palette);
    const frame = this.profile.frame[node];
    if (!this.matches)
      return [node === ROOT ? palette.all : palette.frames[frame], palette.text];
    if (node !== ROOT && this.matches[frame])
      return [palette.matched, palette.text];
    return [palette.dimmed, palette.dimmedText];
  }

  /** @param {number} node @param {number} left @param {number} right in device pixels */
  drawBox(node, left, right) {
    const {context, ratio} = this;
    const top = Math.round(this.rowTop(this.profile.level[node]) * ratio);
    const bottom = Math.round((this.rowTop(this.profile.level[node]) + this.rowHeight) * ratio);
    const gap = Math.max(1, Math.round(ratio * 0.75));
    const width = right - left;
    const [fill, textColor] = this.colorsOf(node);
    const above = node !== this.zoomed && this.profile.isWithin(this.zoomed, node);
    context.globalAlpha = above ? 0.5 : 1;
    context.fillStyle = fill;
    context.fillRect(left, top, width > 3 * gap ? width - gap : width, bottom - top - gap);
    if (width / ratio >= LABEL_ROOM) {
      const room = width / ratio - 2 * LABEL_INSET;
      const label = this.fitter.fit(this.profile.labelOf(node), room);
      context.fillStyle = textColor;
      context.globalAlpha = above ? 0.75 : 1;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillText(label, left / ratio + LABEL_INSET, (top + bottom - gap) / 2 / ratio + 0.5);
      context.setTransform(1, 0, 0, 1, 0, 0);
    }
    context.globalAlpha = 1;
  }

  /** @param {number} node @param {number} weight */
  drawOutline(node, weight) {
    const box = node >= 0 ? this.boxOf(node) : null;
    if (!box)
      return;
    const {context, ratio} = this;
    const line = weight * ratio;
    context.lineWidth = line;
    context.strokeStyle = this.outline;
    context.strokeRect(box.x * ratio + line / 2, box.y * ratio + line / 2,
      Math.max(box.width * ratio - line, line), box.height * ratio - line);
  }
}
