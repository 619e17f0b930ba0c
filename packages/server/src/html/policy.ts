/** Elements a page may contain. All others lose their tags and keep their content. */
export const ELEMENTS = set(
  "h1 h2 h3 h4 h5 h6 p a ul ol li dl dt dd strong b em i u s small sub sup mark abbr cite q blockquote code pre kbd samp br hr wbr img " +
    "figure figcaption div span section article header footer main aside nav table caption thead tbody tfoot tr th td details summary time address",
);

/** Elements without content. */
export const VOID_ELEMENTS = set("br hr wbr img");

/** Elements removed with their content, because it is not text for people or follows other rules than HTML. */
export const DROPPED = set(
  "script style textarea title xmp iframe noembed noframes noscript plaintext template svg math object embed applet frameset select datalist video audio canvas picture map portal dialog button label legend",
);

/** Removed elements without an end tag. */
export const DROPPED_VOID = set("embed");

/** Blocks: each ends an open paragraph. */
export const BLOCKS = set(
  "h1 h2 h3 h4 h5 h6 p ul ol dl blockquote pre hr figure figcaption div section article header footer main aside nav table details summary address",
);

/** Open elements that a start tag closes first, as in browsers, and the ancestors at which the search stops. */
export const IMPLIED_END_TAGS: Readonly<Record<string, { readonly ends: ReadonlySet<string>; readonly within: ReadonlySet<string> }>> = {
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

/** Classes of our style sheet that a page may use. */
export const CLASSES = set("hero card columns button muted center");

/** Elements our form may be inside of. */
export const FORM_ANCESTORS = set("div section article main header footer aside");

const NUMBER = /^\d{1,4}$/;
const SPAN = /^(?:[1-9]|[1-9]\d|100)$/;

/** Attributes allowed on every element, with a test of their values. */
const GLOBAL_ATTRIBUTES: Readonly<Record<string, (value: string) => boolean>> = {
  title: any,
  lang: (v) => /^[A-Za-z0-9-]{1,35}$/.test(v),
  dir: (v) => /^(?:ltr|rtl|auto)$/i.test(v),
  "aria-label": any,
  "aria-hidden": (v) => v === "true",
};

const ELEMENT_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, (value: string) => boolean>>>> = {
  img: { alt: any, width: (v) => NUMBER.test(v), height: (v) => NUMBER.test(v) },
  td: { colspan: (v) => SPAN.test(v), rowspan: (v) => SPAN.test(v) },
  th: { colspan: (v) => SPAN.test(v), rowspan: (v) => SPAN.test(v), scope: (v) => /^(?:row|col|rowgroup|colgroup)$/i.test(v) },
  ol: { start: (v) => /^-?\d{1,6}$/.test(v), reversed: () => true },
  details: { open: () => true },
  time: { datetime: (v) => /^[-0-9A-Za-z:.+ ]{1,40}$/.test(v) },
};

/** True if an attribute is kept with its value unchanged. */
export function isAllowedAttribute(element: string, attribute: string, value: string): boolean {
  const own = ELEMENT_ATTRIBUTES[element] ?? {};
  const tests = Object.hasOwn(own, attribute) ? own : GLOBAL_ATTRIBUTES;
  return Object.hasOwn(tests, attribute) && (tests[attribute]?.(value) ?? false);
}

function set(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

function any(value: string): boolean {
  return value.length <= 1000;
}
