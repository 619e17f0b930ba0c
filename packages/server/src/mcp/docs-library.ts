/** A part of a page under one heading. */
interface Section {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  /** Number of occurrences of each word, headings weighted. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
  /** Words of the heading and of each question that the section answers. */
  readonly questions: readonly ReadonlySet<string>[];
}

/** A section that a search has found. */
export interface FoundSection {
  readonly uri: string;
  readonly page: string;
  readonly section: string;
  readonly excerpt: string;
  /** The whole text of the section. */
  readonly text: string;
}

const EXCERPT = 600;
// The page that lists tasks and questions with the section that answers each.
const QUESTIONS = "questions";
// A word of a heading, a title or a question counts as if it stood that often in the text.
const WEIGHTS = { heading: 4, title: 2, question: 4 };
// A question of the list that has all words of the query, and no others, adds this to the rank of its section.
const ANSWERS = 1.5;
// Pages that say once more what others explain: for users of other services, for agents, in pictures, in tables.
const HELD_BACK: readonly (readonly [start: string, factor: number])[] = [
  ["moving/", 0.6],
  ["dashboard-pictures", 0.3],
  ["comparison", 0.6],
  ["agent", 0.8],
  ["reference", 0.5],
];
// Words of questions, which say nothing about their subject.
const ASKING = new Set(
  toWords(
    "a an the i we my our me you it is are was be do does did how what which when where why who can could should to of in on at by for with and or if that this there have has get want need make use using not no mailsvc please",
  ),
);
// Words for one thing, each written as the first of its line.
const SAME: ReadonlyMap<string, string> = new Map(
  [
    "mail email emails mails message",
    "attachment attach file files",
    "import csv upload",
    "schedule later tomorrow delay",
    "cancel unschedule abort",
    "docker container kubernetes compose image",
    "postgres postgresql database",
    "backup restore snapshot",
    "erase delete gdpr",
    "log login signin password",
    "move migrate switch migration",
    "clock time",
    "localhost local laptop machine",
    "receive received incoming",
    "language translate locale translation",
    "limit throttle quota",
    "idempotency duplicate twice idempotent",
    "lost forgot forgotten",
    "secret token",
    "newsletter campaign",
    "form signup",
  ].flatMap((line) => {
    const [first = "", ...others] = line.split(" ");
    return [first, ...others].map((word) => [toStem(toWords(word)[0] ?? word), first] as const);
  }),
);
// The usual constants of BM25: how soon more of the same word counts less, and how much long sections are held back.
const [SATURATION, LENGTH] = [1.2, 0.4];

/** The documentation, to be read by page and searched by words or questions. */
export class DocsLibrary {
  readonly #read: () => ReadonlyMap<string, string>;
  #pages: ReadonlyMap<string, string> | null = null;
  #index: Index | null = null;

  /** The pages are read when they are first needed. */
  constructor(read: () => ReadonlyMap<string, string>) {
    this.#read = read;
  }

  /** All pages by their path. */
  get pages(): ReadonlyMap<string, string> {
    this.#pages ??= this.#read();
    return this.#pages;
  }

  /** The sections that answer a question or have most of its words, the best first. */
  search(query: string, limit: number): FoundSection[] {
    this.#index ??= buildIndex(this.pages);
    const { sections } = this.#index;
    const terms = toTerms(query);
    const weights = new Map(terms.map((term) => [term, this.#index?.weigh(term) ?? 0]));
    return sections
      .map((section) => ({ section, score: rank(section, weights) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ section: { page, title, heading, text } }) => ({
        uri: toDocUri(page),
        page: title,
        section: heading,
        excerpt: text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT)}…`,
        text,
      }));
  }
}

interface Index {
  readonly sections: readonly Section[];
  /** Says how telling a word is: the fewer sections have it, the more. */
  weigh(term: string): number;
}

function buildIndex(pages: ReadonlyMap<string, string>): Index {
  const asked = readQuestions(pages.get(QUESTIONS) ?? "");
  const sections = [...pages].flatMap(([page, text]) => (page === QUESTIONS ? [] : splitSections(page, text, asked)));
  const usual = sections.reduce((sum, { length }) => sum + length, 0) / Math.max(1, sections.length);
  return {
    sections: sections.map((section) => ({ ...section, length: section.length / usual })),
    weigh: (term) => {
      const having = sections.filter(({ counts }) => counts.has(term)).length;
      return Math.log(1 + (sections.length - having + 0.5) / (having + 0.5));
    },
  };
}

/** BM25, held back where only some of the words are there, and moved up by a question of the list that is nearly the query. */
function rank({ counts, length, page, questions }: Section, weights: ReadonlyMap<string, number>): number {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  let score = 0;
  let covered = 0;
  for (const [term, weight] of weights) {
    const times = counts.get(term) ?? 0;
    if (times > 0) covered += weight;
    score += (weight * times * (SATURATION + 1)) / (times + SATURATION * (1 - LENGTH + LENGTH * length));
  }
  if (score === 0) return 0;
  const likeness = Math.max(0, ...questions.map((question) => liken(question, weights, total)));
  const held = HELD_BACK.find(([start]) => page.startsWith(start))?.[1] ?? 1;
  return held * (score * (covered / total) + ANSWERS * total * likeness);
}

/** Share of the query's words that a question has, less for those it has besides; 0 to 1. */
function liken(question: ReadonlySet<string>, weights: ReadonlyMap<string, number>, total: number): number {
  const shared = [...weights].filter(([term]) => question.has(term));
  const covered = shared.reduce((sum, [, weight]) => sum + weight, 0) / total;
  return covered * covered * Math.sqrt(shared.length / question.size);
}

/** The questions of the list, by the page and the anchor of the section that answers them. */
function readQuestions(text: string): ReadonlyMap<string, readonly string[]> {
  const asked = new Map<string, string[]>();
  for (const [, question = "", page = "", anchor = ""] of text.matchAll(/^- \[(.+?)\]\(([^)#]+)\.md(?:#([^)]+))?\)/gm)) {
    const key = `${page}#${anchor}`;
    asked.set(key, [...(asked.get(key) ?? []), question]);
  }
  return asked;
}

/** The address of a page as a resource. */
export function toDocUri(page: string): string {
  return `mailsvc://docs/${page}`;
}

/** The title of a page: its first heading. */
export function readTitle(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? "";
}

function splitSections(page: string, text: string, asked: ReadonlyMap<string, readonly string[]>): Section[] {
  const title = readTitle(text);
  return splitAtHeadings(text).flatMap((part, number) => {
    const [line = "", heading = title] = /^#{1,3} (.+)$/m.exec(part) ?? [];
    const body = part.replace(line, "").trim();
    if (body === "") return [];
    const own = listWords(body);
    const questions = [...(asked.get(`${page}#${toAnchor(heading)}`) ?? []), ...(number === 0 ? (asked.get(`${page}#`) ?? []) : [])];
    const counts = new Map<string, number>();
    const add = (words: readonly string[], times: number): void => {
      for (const word of words.map(toTerm)) counts.set(word, (counts.get(word) ?? 0) + times);
    };
    add(own, 1);
    add(toWords(heading), WEIGHTS.heading);
    add(toWords(title), WEIGHTS.title);
    add(toWords(questions.join(" ")), WEIGHTS.question);
    const sets = [...questions, heading].map((question) => new Set(toTerms(question)));
    return [{ page, title, heading, text: body, counts, length: own.length, questions: sets }];
  });
}

/** The parts of a page, each with its heading at the beginning. Comments of a fenced block are no headings. */
function splitAtHeadings(text: string): string[] {
  const parts: string[][] = [[]];
  let fenced = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) fenced = !fenced;
    if (!fenced && /^#{1,3} /.test(line) && parts.at(-1)?.some((one) => one.trim() !== "")) parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts.map((lines) => lines.join("\n"));
}

/** The anchor of a heading, as GitHub gives it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** The telling words of a query, each as its stem or the word that stands for it. */
function toTerms(query: string): string[] {
  const all = toWords(query);
  const telling = all.filter((word) => !ASKING.has(word));
  return [...new Set((telling.length > 0 ? telling : all).map(toTerm))];
}

function toTerm(word: string): string {
  const stem = toStem(word);
  return SAME.get(stem) ?? stem;
}

/** A word without the ending of its form: attach for attachment and attached, verif for verify and verifying. */
function toStem(word: string): string {
  const bare = word.replace(/(?:ations?|ions?|ments?|ings?|ied|ed|ers?)$/, "");
  const stem = (bare.length > 3 ? bare : word).replace(/[ye]$/, "");
  return stem.length > 3 ? stem : word;
}

/** The words of a query or a text, without their endings of the plural: `Paused campaigns.create` has paused, campaign, create. */
export function toWords(text: string): string[] {
  return [...new Set(listWords(text))];
}

/** The same with each word as often as it is there. */
export function listWords(text: string): string[] {
  const words = text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}_]+/gu);
  return (words ?? []).map((word) => (word.length > 3 ? word.replace(/(?:es|s)$/, "") : word));
}

/** Counts the words that begin a word of the text. */
export function countMatches(text: string, words: readonly string[]): number {
  const own = toWords(text);
  return words.filter((word) => own.some((one) => one.startsWith(word))).length;
}
