import { listWords, toWords } from "./words.ts";

/** A part of a page under one heading. */
interface Section {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  /** Number of occurrences of each word, headings weighted. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

interface Found {
  readonly uri: string;
  readonly page: string;
  readonly section: string;
  readonly excerpt: string;
}

const EXCERPT = 600;
// A word of a heading or a title counts as if it stood that often in the text.
const WEIGHTS = { heading: 4, title: 2 };
// Pages about other services say everything once more, for their users.
const MOVING = 0.6;
// Words of questions, which say nothing about their subject.
const ASKING = new Set(
  toWords(
    "a an the i we my our me you it is are was be do does did how what which when where why who can could should to of in on at by for with and or if that this there have has get want need make",
  ),
);
// The usual constants of BM25: how soon more of the same word counts less, and how much long sections are held back.
const [SATURATION, LENGTH] = [1.2, 0.4];

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
    const sections = this.#sections;
    const all = toWords(query);
    const telling = all.filter((word) => !ASKING.has(word));
    const usual = sections.reduce((sum, { length }) => sum + length, 0) / Math.max(1, sections.length);
    const words = [...new Set((telling.length > 0 ? telling : all).map(toStem))].map((word) => {
      const having = sections.filter(({ counts }) => counts.has(word)).length;
      return { word, weight: Math.log(1 + (sections.length - having + 0.5) / (having + 0.5)) };
    });
    const rank = ({ counts, length }: Section): number =>
      words.reduce((sum, { word, weight }) => {
        const times = counts.get(word) ?? 0;
        return sum + (weight * times * (SATURATION + 1)) / (times + SATURATION * (1 - LENGTH + (LENGTH * length) / usual));
      }, 0);
    return sections
      .map((section) => ({ section, score: rank(section) * (section.page.startsWith("moving/") ? MOVING : 1) }))
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
    if (body === "") return [];
    const own = listWords(body);
    const counts = new Map<string, number>();
    const add = (words: readonly string[], times: number): void => {
      for (const word of words.map(toStem)) counts.set(word, (counts.get(word) ?? 0) + times);
    };
    add(own, 1);
    add(toWords(heading), WEIGHTS.heading);
    add(toWords(title), WEIGHTS.title);
    return [{ page, title, heading, text: body, counts, length: own.length }];
  });
}

/** A word without the ending of its form: attach for attachment and attached, verif for verify and verifying. */
function toStem(word: string): string {
  const bare = word.replace(/(?:ations?|ions?|ments?|ings?|ied|ed|ers?)$/, "");
  const stem = (bare.length > 3 ? bare : word).replace(/[ye]$/, "");
  return stem.length > 3 ? stem : word;
}
