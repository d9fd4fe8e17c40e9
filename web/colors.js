// SPDX-License-Identifier: Apache-2.0
// Colours say what a frame is: its kind, and for native code the module it is from. They follow
// from the names alone, never from chance. They are chosen in OKLCH, where equal lightness looks
// equally light, so one text colour is readable on all.

import { hashText } from './profile.js';

// Hues of modules, far enough from each other and from those of kernel and JIT.
const PROGRAM_HUES = [25, 48, 70, 92];
const LIBRARY_HUES = [335, 358, 115, 138, 202, 230];

/** Libraries that are in nearly every profile, by the beginning of their names: all different. */
const KNOWN_HUES = new Map([['libc', 138], ['ld', 335], ['libstdc++', 202], ['libpthread', 115],
  ['libm', 358], ['libgcc_s', 230], ['libssl', 115], ['libcrypto', 358]]);

/** Lightness, chroma and hue by kind; null takes the hue of the module. */
const KIND_COLORS = {
  native: {chroma: 1, hue: null, lighter: 0},
  inlined: {chroma: 0.5, hue: null, lighter: 0.05},
  kernel: {chroma: 0.85, hue: 265, lighter: 0},
  jit: {chroma: 1, hue: 170, lighter: 0},
  process: {chroma: 0.12, hue: 260, lighter: 0.02},
  thread: {chroma: 0.12, hue: 260, lighter: 0.06},
  mark: {chroma: 0, hue: 0, lighter: -0.1},
};

const THEMES = {
  light: {lightness: 0.82, chroma: 0.105, dimmed: [0.92, 0.012], matched: [0.76, 0.19, 310]},
  dark: {lightness: 0.73, chroma: 0.11, dimmed: [0.36, 0.012], matched: [0.74, 0.2, 310]},
};

/** @typedef {'light' | 'dark'} Theme */
/** @typedef {keyof typeof KIND_COLORS} Kind */

/** @param {number} x linear light */
function gamma(x) {
  const clipped = Math.min(1, Math.max(0, x));
  return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped
    : 1.055 * clipped ** (1 / 2.4) - 0.055));
}

/** @param {number} lightness @param {number} chroma @param {number} hue in degrees */
export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180);
  const b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
  return `rgb(${gamma(red)} ${gamma(green)} ${gamma(blue)})`;
}

/**
 * The hue of a module follows from its name and nothing else, so that it is the same in every page.
 * Programs and libraries never share one.
 * @param {string} module
 */
export function hueOf(module) {
  const known = KNOWN_HUES.get(/^[^-.]*/.exec(module)?.[0] ?? '');
  const library = /\.so(\.|$)/.test(module) || module.startsWith('[');
  if (known !== undefined && library)
    return known;
  // Without its version, so that an update keeps the colour.
  const name = module.replace(/(-\d[\d.]*)?\.so(\.[\d.]*)?$/, '');
  const hues = library ? LIBRARY_HUES : PROGRAM_HUES;
  return hues[hashText(name) % hues.length];
}

/** The colours of every frame, and of what the search does to them. */
export class Palette {
  /** @param {import('./profile.js').Profile} profile @param {Theme} theme */
  constructor(profile, theme) {
    const {dimmed, matched} = THEMES[theme];
    this.theme = theme;
    this.frames = profile.names.map((name, i) =>
      this.colorOf(profile.kinds[i], profile.modules[i], name));
    this.all = this.colorOf('process', '');
    this.dimmed = oklch(dimmed[0], dimmed[1], 260);
    this.matched = oklch(matched[0], matched[1], matched[2]);
    this.text = '#16181d';
    this.dimmedText = theme === 'dark' ? '#b9bcc6' : '#5a5f6b';
  }

  /** @param {string} kind @param {string} module @param {string} [name] */
  colorOf(kind, module, name) {
    const base = THEMES[this.theme];
    const color = KIND_COLORS[/** @type {Kind} */ (kind)] ?? KIND_COLORS.mark;
    const hue = color.hue ?? hueOf(module);
    // A little by name, so that neighbours can be told apart.
    const shade = name === undefined ? 0 : (hashText(name) % 7 - 3) * 0.012;
    return oklch(base.lightness + color.lighter + shade, base.chroma * color.chroma, hue);
  }
}
