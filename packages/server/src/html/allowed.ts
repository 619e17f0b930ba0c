/** Elements that may stand on a page. All others lose their tags and keep what is in them. */
export const ELEMENTS = set(
  "h1 h2 h3 h4 h5 h6 p a ul ol li dl dt dd strong b em i u s small sub sup mark abbr cite q blockquote code pre kbd samp br hr wbr img " +
    "figure figcaption div span section article header footer main aside nav table caption thead tbody tfoot tr th td details summary time address",
);

/** Elements without content. */
export const VOID = set("br hr wbr img");

/** Elements that go with all that is in them: what is in them is no text for people, or follows other rules than HTML's. */
export const DROPPED = set(
  "script style textarea title xmp iframe noembed noframes noscript plaintext template svg math object embed applet frameset select datalist video audio canvas picture map portal dialog button label legend",
);

/** Of these, those that have no end tag. */
export const DROPPED_VOID = set("embed");

/** Blocks: each ends a paragraph that is open. */
export const BLOCKS = set(
  "h1 h2 h3 h4 h5 h6 p ul ol dl blockquote pre hr figure figcaption div section article header footer main aside nav table details summary address",
);

/** What an open element ends before it begins, as browsers have it, and where they stop looking. */
export const ENDS: Readonly<Record<string, { readonly ends: ReadonlySet<string>; readonly within: ReadonlySet<string> }>> = {
  li: { ends: set("li"), within: set("ul ol") },
  dt: { ends: set("dt dd"), within: set("dl") },
  dd: { ends: set("dt dd"), within: set("dl") },
  tr: { ends: set("tr th td"), within: set("table") },
  th: { ends: set("th td"), within: set("tr table") },
  td: { ends: set("th td"), within: set("tr table") },
  thead: { ends: set("thead tbody tfoot tr th td caption"), within: set("table") },
  tbody: { ends: set("thead tbody tfoot tr th td caption"), within: set("table") },
  tfoot: { ends: set("thead tbody tfoot tr th td caption"), within: set("table") },
  a: { ends: set("a"), within: set("") },
};

/** Looks of ours that a page may use. */
export const CLASSES = set("hero card columns button muted center");

/** Where our form may stand: nothing around it but boxes. */
export const BOXES = set("div section article main header footer aside");

const NUMBER = /^\d{1,4}$/;
const SPAN = /^(?:[1-9]|[1-9]\d|100)$/;

/** Attributes that need no change, and what their values must be like. */
const OF_ALL: Readonly<Record<string, (value: string) => boolean>> = {
  title: any,
  lang: (v) => /^[A-Za-z0-9-]{1,35}$/.test(v),
  dir: (v) => /^(?:ltr|rtl|auto)$/i.test(v),
  "aria-label": any,
  "aria-hidden": (v) => v === "true",
};

const OF_SOME: Readonly<Record<string, Readonly<Record<string, (value: string) => boolean>>>> = {
  img: { alt: any, width: (v) => NUMBER.test(v), height: (v) => NUMBER.test(v) },
  td: { colspan: (v) => SPAN.test(v), rowspan: (v) => SPAN.test(v) },
  th: { colspan: (v) => SPAN.test(v), rowspan: (v) => SPAN.test(v), scope: (v) => /^(?:row|col|rowgroup|colgroup)$/i.test(v) },
  ol: { start: (v) => /^-?\d{1,6}$/.test(v), reversed: () => true },
  details: { open: () => true },
  time: { datetime: (v) => /^[-0-9A-Za-z:.+ ]{1,40}$/.test(v) },
};

/** Whether an attribute may stand as it is. */
export function mayStand(element: string, attribute: string, value: string): boolean {
  const of = OF_SOME[element];
  const test =
    (of && Object.hasOwn(of, attribute) ? of[attribute] : undefined) ?? (Object.hasOwn(OF_ALL, attribute) ? OF_ALL[attribute] : undefined);
  return test?.(value) ?? false;
}

function set(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

function any(value: string): boolean {
  return value.length <= 1000;
}
