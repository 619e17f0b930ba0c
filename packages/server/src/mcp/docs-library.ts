import { countMatches, toWords } from "./words.ts";

/** A part of a page under one heading. */
interface Section {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly words: readonly string[];
}

interface Found {
  readonly uri: string;
  readonly page: string;
  readonly section: string;
  readonly excerpt: string;
}

const EXCERPT = 600;
const WEIGHTS = { heading: 4, title: 2, text: 1 };

/** The documentation, to be read by page and searched by words. */
export class DocsLibrary {
  readonly #read: () => ReadonlyMap<string, string>;
  #pages: ReadonlyMap<string, string> | null = null;
  #sections: readonly Section[] | null = null;

  /** The pages are read when they are first needed. */
  constructor(read: () => ReadonlyMap<string, string>) {
    this.#read = read;
  }

  /** All pages by their path. */
  get pages(): ReadonlyMap<string, string> {
    this.#pages ??= this.#read();
    return this.#pages;
  }

  /** The sections that have most of the words, the best first. */
  search(query: string, limit: number): Found[] {
    this.#sections ??= [...this.pages].flatMap(([page, text]) => splitSections(page, text));
    const words = toWords(query);
    return this.#sections
      .map((section) => ({ section, score: rank(section, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ section: { page, title, heading, text } }) => ({
        uri: toDocUri(page),
        page: title,
        section: heading,
        excerpt: text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT)}…`,
      }));
  }
}

/** The address of a page as a resource. */
export function toDocUri(page: string): string {
  return `mailsvc://docs/${page}`;
}

/** The title of a page: its first heading. */
export function readTitle(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? "";
}

function splitSections(page: string, text: string): Section[] {
  const title = readTitle(text);
  return text.split(/^(?=#{1,3} )/m).flatMap((part) => {
    const [, heading = title] = /^#{1,3} (.+)$/m.exec(part) ?? [];
    const body = part.replace(/^#{1,3} .+$/m, "").trim();
    return body === "" ? [] : [{ page, title, heading, text: body, words: toWords(body) }];
  });
}

function rank({ title, heading, words: own }: Section, words: readonly string[]): number {
  const inText = words.filter((word) => own.some((one) => one.startsWith(word))).length;
  if (inText + countMatches(heading, words) === 0) return 0;
  return WEIGHTS.heading * countMatches(heading, words) + WEIGHTS.title * countMatches(title, words) + WEIGHTS.text * inText;
}
