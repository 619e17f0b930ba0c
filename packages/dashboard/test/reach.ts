import type { Page } from "playwright-core";

/** The widths at which pages are scrolled to their end: a phone, a tablet, half of a screen, a small laptop. */
const WIDTHS = [390, 768, 960, 1280] as const;

/** Returns the widths for one page: the phone's, and one of the others, in turn from page to page. Returns all where pictures are taken. */
export function widthsOf(place: number): readonly number[] {
  const [phone, ...others] = WIDTHS;
  return process.env["SCREENSHOTS"] === undefined ? [phone, others[place % others.length] ?? phone] : WIDTHS;
}

// More than the longest page is high.
const FAR = 20_000;

// Swipes over a page; a finger moves by less than the height of the window each time.
const MAX_MOVES = 40;

// A cell narrower than this, px, shows too little of a name.
const LEAST_WIDE = 72;

// Moves that scroll nothing: the first one may only tell what is to be scrolled, and a busy browser draws later.
const MAX_IDLE = 4;

// Devices up to this width are touched; wider ones have a wheel.
const TOUCHED = 820;

/**
 * The texts and controls of a page that nobody can bring in sight, and its last one where the wheel, or a finger, does not do so. Scrolls the
 * page to its end.
 */
export async function listUnreachable(page: Page, width: number): Promise<string[]> {
  const hidden = await page.evaluate(listOutOfReach);
  const [how, scroll] = width <= TOUCHED ? (["touch", swipe] as const) : (["wheel", turnWheel] as const);
  await page.evaluate(scrollToStart);
  const place = await page.evaluate(findPlace);
  let rest = await page.evaluate(findLastOutOfSight);
  for (let moves = 0, idle = 0; rest !== null && moves < MAX_MOVES && idle < MAX_IDLE; moves += 1) {
    const before = await page.evaluate(sumScrolled);
    await scroll(page, place);
    rest = await page.evaluate(findLastOutOfSight);
    idle = (await page.evaluate(sumScrolled)) === before ? idle + 1 : 0;
  }
  if (rest !== null) hidden.push(`not by ${how}: ${rest}`);
  await page.evaluate(scrollToStart);
  return hidden;
}

interface Place {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

async function turnWheel(page: Page, { x, top, bottom }: Place): Promise<void> {
  await page.mouse.move(x, (top + bottom) / 2);
  await page.mouse.wheel(0, FAR);
}

async function swipe(page: Page, { x, top, bottom }: Place): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", y?: number) =>
    client.send("Input.dispatchTouchEvent", { type, touchPoints: y === undefined ? [] : [{ x, y }] });
  await touch("touchStart", bottom);
  for (let step = 1; step <= 4; step += 1) await touch("touchMove", bottom + ((top - bottom) * step) / 4);
  await touch("touchEnd");
  await client.detach();
}

/** Sums the scroll offsets of all elements. */
function sumScrolled(): number {
  return [...document.querySelectorAll("*")].reduce((sum, { scrollTop }) => sum + scrollTop, 0);
}

/** Runs in the page, as all below: puts everything that scrolls at its start. */
function scrollToStart(): void {
  for (const element of document.querySelectorAll("*")) if (element.scrollTop !== 0) element.scrollTop = 0;
}

/** A place in the content where a person would scroll: at its edge, beside the frames of mails and areas that scroll in it. */
function findPlace(): { readonly x: number; readonly top: number; readonly bottom: number } {
  const areas = [
    ".columns",
    ".overview",
    ".scroll",
    ".editor",
    ".template-editor",
    ".scroll-area",
    ".agents",
    ".reader",
    ".page > .tabbed > .panel",
    ".page",
  ];
  const area = areas.map((one) => document.querySelector(`main ${one}`)).find((one) => one?.checkVisibility());
  const { left = 0, top = 0, bottom = 0 } = area?.getBoundingClientRect() ?? {};
  return { x: left + 1, top: top + 8, bottom: Math.min(bottom, innerHeight) - 32 };
}

/** The last text or control of the content that is not in sight; null when it is. */
async function findLastOutOfSight(): Promise<string | null> {
  // Waits until a scroll gesture is painted.
  for (let frames = 0; frames < 2; frames += 1) await new Promise((drawn) => requestAnimationFrame(drawn));
  const main = document.querySelector("main");
  if (!main) return "the page is empty";
  const leaves = [...main.querySelectorAll("*")].filter(
    (element) =>
      element.checkVisibility({ checkVisibilityCSS: true }) &&
      !element.closest(".hidden, .rows, svg, dialog, .cm-editor, pre, .preview, .table, .flow-area") &&
      (element.matches("button, input, select, textarea, iframe, a") ||
        [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== "")),
  );
  let last: Element | null = null;
  let lowest = Number.NEGATIVE_INFINITY;
  for (const element of leaves) {
    const { bottom, height } = element.getBoundingClientRect();
    if (height > 0 && bottom > lowest) [last, lowest] = [element, bottom];
  }
  if (last === null) return null;
  const { left, right, bottom, height } = last.getBoundingClientRect();
  const y = bottom - Math.min(4, height / 2);
  const at = document.elementFromPoint((Math.max(left, 0) + Math.min(right, innerWidth)) / 2, y);
  // The link of a tile lies over all of it.
  const isThere = at !== null && (last.contains(at) || at.contains(last) || at.closest("li")?.contains(last));
  return isThere && y < innerHeight ? null : `${last.tagName} ${last.textContent?.slice(0, 40)}`;
}

/** Texts and controls that lie outside of what can be scrolled: beyond the start of what clips them, or beyond its end. */
function listOutOfReach(): string[] {
  const clips = (element: Element): boolean => {
    const { overflowX, overflowY } = getComputedStyle(element);
    return overflowX !== "visible" || overflowY !== "visible";
  };
  const found = new Set<string>();
  const wider = document.documentElement.scrollWidth - innerWidth;
  if (wider > 0) found.add(`${wider} px wider than the window`);
  for (const element of document.querySelectorAll("main *")) {
    const isText = [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== "");
    if (!(isText || element.matches("button, input, select, textarea, iframe"))) continue;
    if (!element.checkVisibility({ checkVisibilityCSS: true }) || element.closest(".hidden, svg, .cm-editor, .sheet")) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    for (let around = element.parentElement; around !== null; around = around.parentElement) {
      if (!clips(around)) continue;
      const { textOverflow, overflowX, overflowY, clipPath } = getComputedStyle(around);
      // For readers who do not see the page.
      if (clipPath !== "none") break;
      // A text that ends in dots is meant to.
      if (textOverflow === "ellipsis" || around.matches(".lines")) break;
      const frame = around.getBoundingClientRect();
      const top = box.top - frame.top + around.scrollTop;
      const left = box.left - frame.left + around.scrollLeft;
      const high = overflowY === "hidden" ? around.clientHeight : around.scrollHeight;
      const wide = overflowX === "hidden" ? around.clientWidth : around.scrollWidth;
      if (top < -1 || left < -1 || top + Math.min(box.height, 12) > high + 1 || left + Math.min(box.width, 12) > wide + 1)
        found.add(`${element.tagName} “${(element.textContent ?? "").trim().slice(0, 40)}” in .${around.className}`);
      // A scroll container shows all of its content and is checked by itself.
      if (overflowY !== "hidden" && overflowY !== "clip") break;
    }
  }
  return [...found].slice(0, 5);
}

/** Lists texts of a page that have hardly any room: cut off after a few letters, or with a letter or two on each line. */
export function listSqueezed(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const found = new Set<string>();
    for (const element of document.querySelectorAll<HTMLElement>("main *")) {
      const text = (element.textContent ?? "").trim();
      const isText = [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== "");
      if (!isText || text.length < 8 || element.closest(".hidden, svg, dialog, .cm-editor, .flow-area")) continue;
      if (!element.checkVisibility({ checkVisibilityCSS: true })) continue;
      const cell = element.closest<HTMLElement>('[role="cell"]') ?? element;
      const { clientWidth, scrollWidth } = cell;
      if (cell !== element || element.matches('[role="cell"]')) {
        if (clientWidth < least && scrollWidth > clientWidth + 1) found.add(`cut off: “${text.slice(0, 40)}”`);
      } else if (element.getBoundingClientRect().width < 40 && element.getClientRects().length > 0 && element.offsetHeight > 100)
        found.add(`stacked: “${text.slice(0, 40)}”`);
    }
    return [...found].slice(0, 5);
  }, LEAST_WIDE);
}
