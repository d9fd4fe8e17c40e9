// SPDX-License-Identifier: Apache-2.0
// The page: controls, keys, tooltip, legend, and the state in the address. Text from the profile
// reaches the document only as textContent, and the canvas only as fillText.

import { Palette } from './colors.js';
import { byId, element } from './document.js';
import { Graph } from './graph.js';
import { Legend, legendEntries } from './legend.js';
import { Profile, ROOT, compileSearch } from './profile.js';
import { formatCount, formatDuration, formatPercent, formatValue } from './text.js';

const NOTABLE_UNKNOWN = 0.05; // of the samples

/** @returns {import('./colors.js').Theme} */
function currentTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark')
    return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/**
 * What is said about a profile: short for the header, long for the dialog.
 * @param {import('./profile.js').Info} info
 * @returns {{name: string, short: string, long: string, warning?: boolean}[]}
 */
function factsOf(info) {
  const share = (/** @type {number} */ n) => formatPercent(n, info.samples);
  const lostShare = formatPercent(info.lost, info.samples + info.lost);
  const rate = info.unit === 'samples' && info.period ? ` at ${formatCount(1e9 / info.period)} Hz` : '';
  return [
    {name: 'Event', short: info.event + rate, long: info.event + rate},
    {name: 'Samples', short: `${formatCount(info.samples)} samples`, long: formatCount(info.samples)},
    {name: 'Duration', short: formatDuration(info.duration), long: formatDuration(info.duration)},
    {name: 'Engine', short: `engine ${info.engine}`,
      long: info.engine + (info.engineReason ? ` (${info.engineReason})` : '')},
    {name: 'Lost', short: `${formatCount(info.lost)} lost`, warning: info.lost > 0,
      long: info.lost ? `${formatCount(info.lost)} samples (${lostShare}) came faster than they could be read`
        : 'no sample'},
    {name: 'Truncated', short: `${formatCount(info.truncated)} truncated`, warning: info.truncated > 0,
      long: info.truncated ? `${formatCount(info.truncated)} stacks (${share(info.truncated)}) do not reach their root`
        : 'no stack'},
    {name: 'Unknown', short: `${share(info.unknown)} unknown`,
      warning: info.unknown > NOTABLE_UNKNOWN * info.samples,
      long: `in ${formatCount(info.unknown)} samples (${share(info.unknown)}) the innermost function, the one that ` +
        'was running, has no name, since its module has no symbol for it. Anywhere in the stacks: ' +
        `${formatCount(info.unknownFrames)} different function${info.unknownFrames === 1 ? '' : 's'} without a name`},
    {name: 'Taken', short: '', long: info.start ? new Date(info.start).toLocaleString() : ''},
    {name: 'Made by', short: '', long: `wick ${info.version}`},
  ];
}

class Page {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.canvas = /** @type {HTMLCanvasElement} */ (byId('graph'));
    this.search = /** @type {HTMLInputElement} */ (byId('search'));
    this.graph = new Graph(this.canvas, byId('scroller'), byId('spacer'), profile);
    this.legend = new Legend(byId('legend'));
    this.showFacts();
    this.applyTheme();
    this.readAddress();
    this.listen();
  }

  showFacts() {
    const facts = factsOf(this.profile.info);
    for (const fact of facts.filter(fact => fact.short)) {
      const item = element('li', (fact.warning ? '⚠ ' : '') + fact.short);
      item.title = `${fact.name}: ${fact.long}`;
      item.classList.toggle('warning', Boolean(fact.warning));
      byId('facts').append(item);
    }
    for (const fact of facts.filter(fact => fact.long))
      byId('about-facts').append(element('dt', fact.name), element('dd', fact.long));
  }

  applyTheme() {
    const theme = currentTheme();
    const style = getComputedStyle(document.documentElement);
    const palette = new Palette(this.profile, theme);
    this.graph.palette = palette;
    this.graph.background = style.getPropertyValue('--background').trim();
    this.graph.outline = style.getPropertyValue('--outline').trim();
    byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
    this.showLegend(palette);
    this.graph.redraw();
  }

  /** @param {Palette} palette */
  showLegend(palette) {
    this.legend.show(legendEntries(this.profile, palette));
  }

  toggleTheme() {
    const theme = currentTheme() === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem('wick-theme', theme);
    } catch {
      // A page without storage forgets the choice; nothing else is lost.
    }
    this.applyTheme();
  }

  get tableShown() {
    return !byId('top').hidden;
  }

  toggleTable() {
    const shown = byId('top').hidden;
    byId('top').hidden = !shown;
    byId('scroller').hidden = shown;
    byId('table').setAttribute('aria-pressed', String(shown));
    this.hover(-1);
  }

  toggleIcicle() {
    this.setIcicle(!this.graph.icicle);
    this.writeAddress(false);
  }

  /** @param {boolean} icicle */
  setIcicle(icicle) {
    this.graph.setIcicle(icicle);
    byId('flip').textContent = icicle ? 'Flame' : 'Icicle';
  }

  /** @param {number} node @param {boolean} [remember] as a place to come back to */
  zoom(node, remember = true) {
    const changed = node !== this.graph.zoomed;
    this.graph.zoomTo(node, remember);
    byId('zoom-out').hidden = node === ROOT;
    if (this.graph.selected >= 0)
      this.graph.selected = node;
    this.showMatched();
    this.showDetails();
    if (changed && remember)
      this.writeAddress(true);
  }

  // The address keeps zoom and search by name, so a link holds for the next profile too.
  writeAddress(/** @type {boolean} */ asNewEntry) {
    const state = new URLSearchParams();
    if (this.graph.zoomed !== ROOT)
      state.set('zoom', this.profile.nodeId(this.graph.zoomed));
    if (this.search.value)
      state.set('search', this.search.value);
    if (this.graph.icicle)
      state.set('view', 'icicle');
    const hash = state.toString();
    try {
      const address = hash ? `#${hash}` : location.pathname + location.search;
      history[asNewEntry ? 'pushState' : 'replaceState'](null, '', address);
    } catch {
      // Some embedding pages do not allow it; the page works without.
    }
  }

  readAddress() {
    const state = new URLSearchParams(location.hash.slice(1));
    this.search.value = state.get('search') ?? '';
    this.setIcicle(state.get('view') === 'icicle');
    this.applySearch();
    this.zoom(this.profile.findNode(state.get('zoom') ?? ''), /* remember= */ false);
  }

  applySearch() {
    const matched = byId('matched');
    this.graph.matches = null;
    matched.classList.remove('wrong');
    try {
      const test = compileSearch(this.search.value);
      if (test)
        this.graph.matches = Uint8Array.from(this.profile.labels, label => test(label) ? 1 : 0);
      this.showMatched();
    } catch {
      matched.textContent = 'not a regular expression';
      matched.classList.add('wrong');
    }
    this.graph.redraw();
  }

  showMatched() {
    const {profile, graph} = this;
    const matched = byId('matched');
    if (!graph.matches) {
      matched.replaceChildren();
      return;
    }
    const part = profile.matchedWithin(graph.matches, ROOT);
    matched.replaceChildren(element('strong', formatPercent(part, profile.total[ROOT])), ' matched');
    if (graph.zoomed !== ROOT) {
      const inZoom = profile.matchedWithin(graph.matches, graph.zoomed);
      matched.append(' · ', element('strong', formatPercent(inZoom, profile.total[graph.zoomed])),
        ' of the zoom');
    }
  }

  clearSearch() {
    this.search.value = '';
    this.applySearch();
    this.writeAddress(false);
  }

  /** Module and source. @param {number} node */
  originOf(node) {
    const frame = this.profile.frame[node];
    if (node === ROOT)
      return '';
    const kind = this.profile.kinds[frame];
    return [this.profile.modules[frame], this.profile.sources[frame], kind === 'native' ? '' : kind]
      .filter(Boolean).join(' · ');
  }

  /** @param {number} node @returns {[string, string][]} */
  numbersOf(node) {
    const {profile, graph} = this;
    const {total, self, info} = profile;
    const zoomed = graph.zoomed !== ROOT && profile.isWithin(node, graph.zoomed);
    /** @type {[string, string][]} */
    const numbers = [
      ['with callees', formatValue(total[node], info)],
      ['of total', formatPercent(total[node], total[ROOT])],
      ['of the zoom', formatPercent(total[node], total[graph.zoomed])],
      ['self', self[node] ? `${formatValue(self[node], info)}, ${formatPercent(self[node], total[ROOT])}`
        : 'none'],
    ];
    return zoomed ? numbers : numbers.filter(([name]) => name !== 'of the zoom');
  }

  showDetails() {
    const {graph} = this;
    const node = [graph.hovered, graph.selected, graph.zoomed].find(node => node >= 0) ?? ROOT;
    const numbers = this.numbersOf(node).map(([name, value]) =>
      name === 'self' ? `self ${value}` : name === 'with callees' ? value : `${value} ${name}`);
    byId('details').textContent =
      [this.profile.labelOf(node), numbers.join(', '), this.originOf(node)].filter(Boolean).join(' — ');
  }

  /** @param {number} node or -1 @param {PointerEvent} [event] */
  hover(node, event) {
    const tip = byId('tip');
    const changed = node !== this.graph.hovered;
    this.graph.hovered = node;
    this.canvas.classList.toggle('over', node >= 0);
    tip.hidden = node < 0 || !event || event.pointerType === 'touch';
    if (changed) {
      this.graph.redraw();
      this.showDetails();
      if (node >= 0)
        this.fillTip(node);
    }
    if (!tip.hidden && event)
      this.placeTip(event.clientX, event.clientY);
  }

  /** @param {number} node */
  fillTip(node) {
    const origin = element('div', this.originOf(node));
    origin.className = 'origin';
    byId('tip').replaceChildren(element('strong', this.profile.labelOf(node)), origin,
      element('dl', '', ...this.numbersOf(node).flatMap(([name, value]) =>
        [element('dt', name), element('dd', value)])));
  }

  /** @param {number} x @param {number} y of the pointer */
  placeTip(x, y) {
    const tip = byId('tip');
    const {width, height} = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(x + 14, innerWidth - width - 8));
    const below = y + 18 + height < innerHeight - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? y + 18 : Math.max(8, y - height - 12)}px`;
  }

  /** @param {number} node */
  select(node) {
    if (node < 0)
      return;
    this.graph.selected = node;
    this.hover(-1);
    this.graph.showLevel(this.profile.level[node]);
    this.graph.redraw();
    this.showDetails();
  }

  /** @param {'in' | 'out' | 'left' | 'right'} direction */
  move(direction) {
    const {profile, graph} = this;
    const from = graph.selected;
    if (from < 0) {
      this.select(graph.zoomed);
    } else if (direction === 'out') {
      this.select(profile.parent[from]);
    } else if (direction === 'in') {
      let widest = -1;
      for (const callee of profile.callees(from))
        if (widest < 0 || profile.total[callee] > profile.total[widest])
          widest = callee;
      this.select(widest >= 0 && graph.boxOf(widest) ? widest : -1);
    } else {
      this.select(this.neighbour(from, direction === 'left' ? -1 : 1));
    }
  }

  /** The next box that can be seen on the same level, or -1. @param {number} node @param {1 | -1} step */
  neighbour(node, step) {
    const {profile, graph} = this;
    for (let i = node + step; i > graph.zoomed && i < profile.end[graph.zoomed]; i += step)
      if (profile.level[i] === profile.level[node] && graph.boxOf(i))
        return i;
    return -1;
  }

  listen() {
    const {canvas, search} = this;
    const nodeUnder = (/** @type {MouseEvent} */ event) => {
      const corner = canvas.getBoundingClientRect();
      return this.graph.nodeAt(event.clientX - corner.left, event.clientY - corner.top);
    };
    canvas.addEventListener('pointermove', event => this.hover(nodeUnder(event), event));
    canvas.addEventListener('pointerleave', () => this.hover(-1));
    canvas.addEventListener('click', event => {
      const node = nodeUnder(event);
      if (node < 0)
        return;
      this.graph.selected = -1;
      this.hover(-1);
      this.zoom(node);
    });
    byId('scroller').addEventListener('scroll', () => this.hover(-1));
    search.addEventListener('input', () => {
      this.applySearch();
      this.writeAddress(false);
    });
    byId('zoom-out').addEventListener('click', () => this.zoom(ROOT));
    byId('flip').addEventListener('click', () => this.toggleIcicle());
    byId('table').addEventListener('click', () => this.toggleTable());
    byId('theme').addEventListener('click', () => this.toggleTheme());
    byId('top').addEventListener('click', event => {
      // A finger has no tooltip: what is cut opens with a touch. Selecting text is not meant.
      if (event.target instanceof Element && getSelection()?.isCollapsed)
        event.target.closest('td')?.classList.toggle('whole');
    });
    byId('help').addEventListener('click', () => this.showAbout());
    document.addEventListener('keydown', event => this.onKey(event));
    window.addEventListener('popstate', () => this.readAddress());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.applyTheme());
  }

  showAbout() {
    /** @type {HTMLDialogElement} */ (byId('about')).showModal();
  }

  /** Esc: out of the zoom first, then out of the search. */
  escape() {
    if (this.graph.zoomed !== ROOT)
      this.zoom(ROOT);
    else
      this.clearSearch();
  }

  /** @param {KeyboardEvent} event @returns {(() => void) | undefined} what the key does */
  actionOf(event) {
    if (event.altKey || event.metaKey || event.ctrlKey && event.key !== 'f')
      return undefined;
    const focusSearch = () => this.search.select();
    // A second Ctrl-F is the browser's own, and so is any while there is only text to search.
    if (event.ctrlKey)
      return event.target === this.search || this.tableShown ? undefined : focusSearch;
    if (event.target === this.search)
      return event.key === 'Escape' ? () => {
        this.clearSearch();
        this.canvas.focus();
      } : undefined;
    const onButton = event.target instanceof HTMLButtonElement;
    const [up, down] = this.graph.icicle ? /** @type {const} */ (['out', 'in'])
      : /** @type {const} */ (['in', 'out']);
    /** @type {Record<string, (() => void) | undefined>} */
    const always = {
      '?': () => this.showAbout(),
      't': () => this.toggleTable(),
      'd': () => this.toggleTheme(),
      'Escape': this.tableShown ? () => this.toggleTable() : undefined,
    };
    /** @type {Record<string, (() => void) | undefined>} */
    const onGraph = {
      ...always,
      '/': focusSearch,
      '0': () => this.zoom(ROOT),
      'i': () => this.toggleIcicle(),
      'Escape': () => this.escape(),
      'Backspace': () => this.zoom(this.profile.parent[this.graph.zoomed]),
      'Enter': onButton ? undefined : () => this.zoom(Math.max(this.graph.selected, ROOT)),
      'ArrowUp': () => this.move(up),
      'ArrowDown': () => this.move(down),
      'ArrowLeft': () => this.move('left'),
      'ArrowRight': () => this.move('right'),
    };
    const actions = this.tableShown ? always : onGraph;
    return Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.profile.total[ROOT] || /** @type {HTMLDialogElement} */ (byId('about')).open)
      return;
    const action = this.actionOf(event);
    if (!action)
      return;
    event.preventDefault();
    action();
  }
}

/** @param {import('./profile.js').Info} info */
function emptySentence(info) {
  const lost = info.lost ? ` ${formatCount(info.lost)} samples were lost.` : '';
  return `No samples: the target used too little CPU time at this rate, or only waited.${lost}`;
}

function start() {
  try {
    const theme = localStorage.getItem('wick-theme');
    if (theme)
      document.documentElement.dataset.theme = theme;
  } catch {
    // No storage, no choice to remember.
  }
  const profile = new Profile(JSON.parse(byId('data').textContent ?? ''));
  byId('data').remove(); // its text is as large as the profile
  const empty = !profile.total[ROOT];
  byId('top').hidden = true;
  byId('empty').hidden = !empty;
  byId('empty').textContent = empty ? emptySentence(profile.info) : '';
  byId('scroller').hidden = byId('toolbar').hidden = empty;
  document.body.classList.remove('static');
  return new Page(profile);
}

start();
