// SPDX-License-Identifier: Apache-2.0
// Numbers for people, and labels that fit their boxes.

/** @param {number} n */
export function formatCount(n) {
  return n.toLocaleString('en-US', {maximumFractionDigits: 0});
}

/** @param {number} part @param {number} whole */
export function formatPercent(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  if (percent > 0 && percent < 0.01)
    return '<0.01%';
  return `${percent.toFixed(percent < 99.995 && percent > 0 ? 2 : 0)}%`;
}

/** @param {number} value @param {[number, string][]} units largest first */
function formatScaled(value, units) {
  const [size, unit] = units.find(([size]) => value >= size) ?? units[units.length - 1];
  const scaled = value / size;
  const digits = scaled >= 100 || Number.isInteger(scaled) ? 0 : scaled >= 10 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${unit}`;
}

/** @param {number} ns */
export function formatDuration(ns) {
  if (ns >= 60e9) {
    const seconds = Math.round(ns / 1e9);
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return ['h', 'min', 's'].map((unit, i) => parts[i] ? `${parts[i]} ${unit}` : '')
      .filter(Boolean).join(' ');
  }
  return formatScaled(ns, [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]);
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  return formatScaled(bytes, [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'], [1, 'B']]);
}

/** A value in the profile's unit. @param {number} value @param {import('./profile.js').Info} info */
export function formatValue(value, info) {
  if (info.unit === 'nanoseconds')
    return formatDuration(value);
  if (info.unit === 'bytes')
    return formatBytes(value);
  const unit = info.unit === 'samples' && value === 1 ? 'sample' : info.unit;
  const time = info.unit === 'samples' && info.period && value
    ? ` ≈ ${formatDuration(value * info.period)}` : '';
  return `${formatCount(value)} ${unit}${time}`;
}

const ELLIPSIS = '…';

/** Cuts labels to a width. Widths of characters are measured once each. */
export class LabelFitter {
  /** @param {CanvasRenderingContext2D} context with its font set, and without kerning */
  constructor(context) {
    this.context = context;
    /** @type {Map<string, number>} */
    this.widths = new Map();
  }

  /** @param {string} character */
  widthOf(character) {
    let width = this.widths.get(character);
    if (width === undefined) {
      width = this.context.measureText(character).width;
      this.widths.set(character, width);
    }
    return width;
  }

  /**
   * The label, or its beginning and its end with an ellipsis between: names of C++ and Rust differ
   * at the end. "" where not even a few characters fit.
   * @param {string} label @param {number} room
   */
  fit(label, room) {
    // No character is narrower than a pixel: what is longer than that cannot fit whole.
    const whole = label.length <= room && this.prefix(label, room);
    if (whole === label)
      return label;
    const left = room - this.widthOf(ELLIPSIS);
    const head = this.prefix(label, left < 60 ? left : left * 0.6);
    if (head.length < 2)
      return '';
    const tail = left < 60 ? '' : this.suffix(label, left - this.width(head));
    return head + ELLIPSIS + tail;
  }

  /** @param {string} text */
  width(text) {
    let width = 0;
    for (const character of text)
      width += this.widthOf(character);
    return width;
  }

  /** The longest beginning that fits. @param {string} label @param {number} room */
  prefix(label, room) {
    let length = 0;
    for (const character of label) {
      room -= this.widthOf(character);
      if (room < 0)
        break;
      length += character.length;
    }
    return label.slice(0, length);
  }

  /** The longest end that fits. @param {string} label @param {number} room */
  suffix(label, room) {
    let from = label.length;
    for (let i = label.length - 1; i >= 0; i--) {
      room -= this.widthOf(label[i]);
      if (room < 0)
        break;
      from = i;
    }
    // Half of a surrogate pair is no character.
    const code = label.charCodeAt(from);
    return label.slice(code >= 0xdc00 && code <= 0xdfff ? from + 1 : from);
  }
}
