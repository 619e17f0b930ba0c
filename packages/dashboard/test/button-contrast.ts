import type { Page } from "playwright-core";

/** The states of a button, and what the browser is told to treat it as. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  "at rest": [],
  hovered: ["hover"],
  focused: ["focus", "focus-visible"],
  pressed: ["hover", "active"],
};

// Contrast that WCAG requires for text.
const LEAST = 4.5;

/** The buttons in sight whose words have too little contrast with what is behind them, in any of their states. */
export async function listPaleButtons(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  await client.send("DOM.enable");
  await client.send("CSS.enable");
  const { root } = await client.send("DOM.getDocument", { depth: 0 });
  const { nodeIds } = await client.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: "button, .button" });
  const force = (classes: readonly string[]) =>
    Promise.all(nodeIds.map((nodeId) => client.send("CSS.forcePseudoState", { nodeId, forcedPseudoClasses: [...classes] })));
  const pale: string[] = [];
  const measure = async (state: string): Promise<void> => {
    for (const { words, contrast } of await page.evaluate(measureButtons))
      if (contrast < LEAST) pale.push(`“${words}” ${state}: ${contrast.toFixed(2)}`);
  };
  for (const [state, classes] of Object.entries(STATES)) {
    await force(classes);
    await measure(state);
  }
  await force([]);
  await page.evaluate(() => {
    for (const button of document.querySelectorAll("button")) {
      if (!button.disabled) button.dataset["enabled"] = "";
      button.disabled = true;
    }
  });
  await measure("disabled");
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-enabled]")) {
      button.disabled = false;
      delete button.dataset["enabled"];
    }
  });
  await client.detach();
  return pale;
}

/** Runs in the page: the words of each button in sight, and their contrast with what is behind them. */
function measureButtons(): { readonly words: string; readonly contrast: number }[] {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (!canvas) throw new Error("This browser cannot draw.");
  type Color = readonly [red: number, green: number, blue: number, alpha: number];
  const parsed = new Map<string, Color>();
  const parse = (text: string): Color => {
    const known = parsed.get(text) ?? draw(text);
    parsed.set(text, known);
    return known;
  };
  const draw = (text: string): Color => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (front: Color, back: Color): Color => {
    const mix = (i: 0 | 1 | 2): number => front[i] * front[3] + back[i] * (1 - front[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const fade = ([red, green, blue, alpha]: Color, by: number): Color => [red, green, blue, alpha * by];
  const grounds = new Map<Element, Color>();
  const groundOf = (element: Element): Color => {
    const known = grounds.get(element) ?? mixGround(element);
    grounds.set(element, known);
    return known;
  };
  const mixGround = (element: Element): Color => {
    const { parentElement } = element;
    const back = parentElement ? groundOf(parentElement) : parse("canvas");
    const { backgroundColor, opacity } = getComputedStyle(element);
    return over(fade(parse(backgroundColor), Number(opacity)), back);
  };
  const opacityOf = (element: Element | null): number =>
    element === null ? 1 : Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement);
  const lightness = (color: Color): number => {
    const linear = (i: 0 | 1 | 2): number => {
      const part = color[i] / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2);
  };
  const measured: { words: string; contrast: number }[] = [];
  for (const button of document.querySelectorAll("button, .button")) {
    if (!button.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    for (const element of [button, ...button.querySelectorAll("*")]) {
      const words = [...element.childNodes].flatMap((node) => (node instanceof Text ? [node.data.trim()] : [])).join(" ");
      if (words === "" || element.closest(".hidden")) continue;
      const ground = groundOf(element);
      const ink = over(fade(parse(getComputedStyle(element).color), opacityOf(element)), ground);
      const [light = 0, dark = 0] = [lightness(ink), lightness(ground)].sort((a, b) => b - a);
      measured.push({ words: words.slice(0, 40), contrast: (light + 0.05) / (dark + 0.05) });
    }
  }
  return measured;
}
