// SPDX-License-Identifier: Apache-2.0
// The profile in the page: the tree of stacks as columns, one entry for each node, in prefix order.
// Everything below node i is i + 1 .. end[i] - 1, so a subtree is a range and skipping it is a jump.

/**
 * How the profile was made. Times are in nanoseconds, start in milliseconds since 1970.
 * @typedef {{target: string, event: string, unit: string, engine: string, engineReason: string,
 *   version: string, samples: number, start: number, duration: number, period: number,
 *   lost: number, truncated: number, unknown: number, unknownFrames: number}} Info
 */

/**
 * What the writer puts into the page; src/format/html.c tells what it means.
 * @typedef {{info: Info, strings: string[], kinds: string[], frames: number[], noStack: number,
 *   up: number[], frame: number[], self: number[]}} ProfileData
 */

/**
 * A part of the profile with one colour.
 * @typedef {{kind: string, module: string, self: number, total: number}} Part
 */

const FRAME_FIELDS = 5;

/** The node that stands for everything; its frame is -1. */
export const ROOT = 0;

/** 32 bits of a text, the same in every browser. @param {string} text */
export function hashText(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** The part after the last slash. @param {string} path */
export function baseName(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

// Controls, and marks that turn the direction of the text around them.
const NOT_PRINTED =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A name that shows what it is. @param {string} text */
function printable(text) {
  return text.replace(NOT_PRINTED, '\ufffd');
}

export class Profile {
  /** @param {ProfileData} data */
  constructor(data) {
    this.info = data.info;
    /** @type {string[]} by frame, like the next four */ this.names = [];
    /** @type {string[]} */ this.modules = [];
    /** @type {string[]} "src/a.c:12", or "" */ this.sources = [];
    /** @type {string[]} what stands in the box */ this.labels = [];
    /** @type {string[]} */ this.kinds = [];
    /** @type {Uint32Array | null} made when first needed */ this.labelHashes = null;
    this.readFrames(data);
    const count = data.up.length + 1;
    this.count = count;
    this.frame = new Int32Array(count);
    this.level = new Uint32Array(count);
    this.parent = new Uint32Array(count);
    this.end = new Uint32Array(count);
    this.height = new Uint32Array(count); // how many levels are below it
    this.self = new Float64Array(count);
    this.total = new Float64Array(count);
    this.start = new Float64Array(count); // where its box begins, in the profile's unit
    this.readNodes(data);
    this.addUp();
  }

  /** @param {ProfileData} data */
  readFrames(data) {
    const count = data.frames.length / FRAME_FIELDS;
    const strings = data.strings.map(printable);
    for (let i = 0; i < count; i++) {
      const [name, module, file, line, kind] =
        data.frames.slice(i * FRAME_FIELDS, (i + 1) * FRAME_FIELDS);
      const source = strings[file] + (line ? `:${line}` : '');
      this.modules[i] = strings[module];
      this.names[i] = strings[name] || this.modules[i] || '[unknown]';
      this.sources[i] = source;
      this.labels[i] = this.names[i] + (line ? ` (${baseName(source)})` : '');
      this.kinds[i] = data.kinds[kind];
    }
  }

  /** @param {ProfileData} data */
  readNodes(data) {
    this.frame[ROOT] = -1;
    this.self[ROOT] = data.noStack;
    for (let i = 1; i < this.count; i++) {
      let parent = i - 1;
      for (let up = data.up[i - 1]; up > 0; up--)
        parent = this.parent[parent];
      this.parent[i] = parent;
      this.level[i] = this.level[parent] + 1;
      this.frame[i] = data.frame[i - 1];
      this.self[i] = data.self[i - 1];
    }
  }

  addUp() {
    this.total.set(this.self);
    for (let i = this.count - 1; i >= 0; i--) {
      this.end[i] = Math.max(this.end[i], i + 1);
      if (i === ROOT)
        break;
      const parent = this.parent[i];
      this.total[parent] += this.total[i];
      this.end[parent] = Math.max(this.end[parent], this.end[i]);
      this.height[parent] = Math.max(this.height[parent], this.height[i] + 1);
    }
    const next = new Float64Array(this.count); // where the next callee of a node begins
    for (let i = 1; i < this.count; i++) {
      const parent = this.parent[i];
      this.start[i] = next[i] = next[parent];
      next[parent] += this.total[i];
    }
  }

  /** @param {number} node */
  labelOf(node) {
    return node === ROOT ? 'all' : this.labels[this.frame[node]];
  }

  /** @param {number} node @returns {Generator<number>} */
  *callees(node) {
    for (let i = node + 1; i < this.end[node]; i = this.end[i])
      yield i;
  }

  /** Is `node` below `ancestor`, or the same? @param {number} node @param {number} ancestor */
  isWithin(node, ancestor) {
    return node >= ancestor && node < this.end[ancestor];
  }

  /**
   * Samples whose stack has a matching frame at or below `node`. A match below a match is part of
   * it and not counted again.
   * @param {Uint8Array} matches by frame @param {number} node
   */
  matchedWithin(matches, node) {
    let sum = 0;
    for (let i = node; i < this.end[node];) {
      if (i !== ROOT && matches[this.frame[i]]) {
        sum += this.total[i];
        i = this.end[i];
      } else {
        i++;
      }
    }
    return sum;
  }

  /**
   * What has a colour of its own, with its self value and the samples it has a box in, counted once
   * each: native code by its module, and each other kind of code as a whole.
   * @returns {Part[]} those in the most samples first
   */
  parts() {
    /** @type {Map<string, Part & {end: number}>} */
    const parts = new Map();
    const byFrame = this.kinds.map((ofFrame, frame) => {
      const kind = ofFrame === 'inlined' ? 'native' : ofFrame;
      const module = kind === 'native' ? this.modules[frame] : '';
      const key = `${kind} ${module}`;
      const part = parts.get(key) ?? {kind, module, self: 0, total: 0, end: 0};
      parts.set(key, part);
      return part;
    });
    for (let i = 1; i < this.count; i++) {
      const part = byFrame[this.frame[i]];
      part.self += this.self[i];
      if (i >= part.end) { // else it is below another box of the same
        part.total += this.total[i];
        part.end = this.end[i];
      }
    }
    return [...parts.values()].filter(({total}) => total)
      .sort((a, b) => b.total - a.total || b.self - a.self || (a.module < b.module ? -1 : 1));
  }

  /**
   * A name for a node that holds in another profile of the same program: its label, its level, and
   * a hash of all labels on its path.
   * @param {number} node
   */
  nodeId(node) {
    return `${this.labelOf(node)}.${this.level[node]}.${this.pathHash(node)}`;
  }

  /** @param {string} id @returns {number} ROOT if there is no such node */
  findNode(id) {
    const [, label, level, hash] = /^([^]*)\.(\d+)\.(\w+)$/.exec(id) ?? [];
    for (let i = 1; hash && i < this.count; i++)
      if (this.level[i] === Number(level) && this.labelOf(i) === label &&
          this.pathHash(i) === hash)
        return i;
    return ROOT;
  }

  /** @param {number} node */
  pathHash(node) {
    this.labelHashes ??= Uint32Array.from(this.labels, hashText);
    let hash = 0;
    for (let i = node; i !== ROOT; i = this.parent[i])
      hash = Math.imul(hash ^ this.labelHashes[this.frame[i]], 0x5bd1e995) ^ (hash >>> 15);
    return (hash >>> 0).toString(36);
  }
}

/**
 * A test for labels: what stands between two slashes is a regular expression, anything else is
 * looked for as it is, in upper or lower case. Null for an empty query.
 * @param {string} query
 * @returns {((label: string) => boolean) | null} throws SyntaxError for a wrong expression
 */
export function compileSearch(query) {
  const expression = /^\/(.+)\/([imsu]*)$/.exec(query);
  if (expression) {
    const regexp = new RegExp(expression[1], expression[2]);
    return label => regexp.test(label);
  }
  const wanted = query.trim().toLowerCase();
  return wanted ? label => label.toLowerCase().includes(wanted) : null;
}
