// SPDX-License-Identifier: Apache-2.0
// TAP, pages made by make_page, and a browser to look at them.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const BUILD = process.env.WICK_BUILD ?? join(ROOT, 'build');
const CHROMIUM = '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let count = 0;
let failures = 0;

/** Runs one test and prints its line. */
export async function test(name, run) {
  count++;
  try {
    await run();
    console.log(`ok ${count} - ${name}`);
  } catch (error) {
    failures++;
    for (const line of String(error.stack ?? error).split('\n').slice(0, 12))
      console.log(`# ${line}`);
    console.log(`not ok ${count} - ${name}`);
  }
}

/** Prints the plan and leaves. */
export function done() {
  console.log(`1..${count}`);
  process.exit(failures ? 1 : 0);
}

/** Says that nothing can be tested here, and leaves. */
export function skipAll(name, reason) {
  console.log(`ok 1 - ${name} # SKIP ${reason}`);
  console.log('1..1');
  process.exit(0);
}

/** The make_page program, from the first build that has one. */
function pageMaker() {
  return ['', 'release', 'asan', 'dev'].map(build => join(BUILD, build, 'tests/make_page'))
    .find(existsSync);
}

function playwright() {
  const homes = [process.env.WICK_PLAYWRIGHT, join(BUILD, 'browser'), join(ROOT, 'build/browser'),
    ...(process.env.NODE_PATH ?? '').split(':')].filter(Boolean);
  for (const home of homes) {
    try {
      return createRequire(join(resolve(home), 'x.js'))('playwright-core');
    } catch {
      // Not there; perhaps in the next.
    }
  }
  return null;
}

/** Why the page cannot be tested here; "" if it can. */
export function missing() {
  if (!existsSync(CHROMIUM))
    return 'chromium is not installed';
  if (!playwright())
    return 'playwright-core is not installed (npm install --prefix build/browser playwright-core)';
  return pageMaker() ? '' : 'tests/make_page is not built';
}

/** A browser and the pages it can show. */
export class Browser {
  static async launch() {
    const made = new Browser();
    made.directory = mkdtempSync(join(tmpdir(), 'wick-page-'));
    made.browser = await playwright().chromium.launch({executablePath: CHROMIUM, args: FLAGS});
    return made;
  }

  async close() {
    await this.browser.close();
    rmSync(this.directory, {recursive: true});
  }

  /** The file with the page of a profile that make_page knows. */
  file(name) {
    const path = join(this.directory, `${name}.html`);
    if (!existsSync(path))
      writeFileSync(path, execFileSync(pageMaker(), [name], {maxBuffer: 1 << 28}));
    return path;
  }

  /**
   * Opens a page. What it did that it should not is in page.complaints: errors, dialogs, requests.
   * @param {string} name of the profile @param {object} [options] of the browser context, and hash
   */
  async open(name, {hash = '', ...options} = {}) {
    const context = await this.browser.newContext({viewport: {width: 1032, height: 700},
      reducedMotion: 'reduce', ...options});
    const page = await context.newPage();
    page.complaints = [];
    page.on('pageerror', error => page.complaints.push(`error: ${error.message}`));
    page.on('console', message => {
      // The tests read the canvas often; the page never does.
      if (!message.text().includes('willReadFrequently'))
        page.complaints.push(`console: ${message.text()}`);
    });
    page.on('dialog', dialog => {
      page.complaints.push(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    page.on('request', request => {
      if (!/^(file|data):/.test(request.url()))
        page.complaints.push(`request: ${request.url()}`);
    });
    await page.goto(`file://${this.file(name)}${hash}`);
    await settled(page);
    return page;
  }
}

/** Waits until what was asked for is drawn. */
export function settled(page) {
  return page.evaluate(() => new Promise(drawn =>
    requestAnimationFrame(() => requestAnimationFrame(drawn))));
}
