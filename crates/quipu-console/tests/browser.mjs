// Chromium, driven as a person would: with what is on the screen. Notes whatever the page complains about.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The packages are beside the build and not beside the tests. */
const packages = createRequire(join(process.env.CONSOLE_PACKAGES ?? ".", "package.json"));
const { chromium } = packages("playwright-core");
const AXE = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const SHOTS = process.env.CONSOLE_SHOTS ?? "target/console";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch() {
  const executablePath = CHROMIUM.find((path) => existsSync(path));
  if (!executablePath) throw new Error("no chromium: apt-get install chromium");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/**
 * A fresh visitor.
 * @param {any} browser
 * @param {{ dark?: boolean, width?: number, height?: number }} [options]
 */
export async function visitor(browser, options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 }, colorScheme: options.dark ? "dark" : "light", reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  /** @type {string[]} */
  const complaints = [];
  page.on("pageerror", (/** @type {Error} */ error) => complaints.push(`error: ${error.message}`));
  page.on("console", (/** @type {any} */ message) => {
    const text = message.text();
    // A refused or failed request is told on the page, and chromium says it here too.
    if (message.type() === "error" && !/Failed to load resource|WebSocket connection|ERR_CONNECTION/.test(text)) complaints.push(text);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  return { page, context, complaints };
}

/** @param {any} page @param {string} name */
export async function shot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** What axe finds that is serious. @param {any} page @returns {Promise<string[]>} */
export async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((/** @type {any} */ rule) => rule.impact === "serious" || rule.impact === "critical")
    .map((/** @type {any} */ rule) => `${rule.id}: ${rule.nodes.map((/** @type {any} */ node) => node.html).slice(0, 3).join(" | ")}`);
}
