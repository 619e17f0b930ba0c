/** What all parts of the page are made with: elements, notices, calls, questions. What others say is put in as text, never as markup. */
export function tools() {
  const NOTICE_MS = 4000;
  const MAX_SHOWN = 500_000;
  let noticeTimer = 0;

  const at = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
  const make = (tag: string, name: string, ...inside: (Node | string)[]): HTMLElement => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...inside);
    return node;
  };
  const button = (name: string, press: () => void, ...inside: (Node | string)[]): HTMLElement => {
    const node = make("button", name, ...inside);
    node.setAttribute("type", "button");
    node.addEventListener("click", press);
    return node;
  };
  const link = (text: string, href: string, name?: string): HTMLElement => {
    const a = make("a", "", text) as HTMLAnchorElement;
    a.href = href;
    if (name !== undefined) a.download = name;
    return a;
  };
  const fact = (name: string, value: string): HTMLElement[] => (value === "" ? [] : [make("dt", "", name), make("dd", "", value)]);
  /** A text as it is; of a very long one the beginning. */
  const lines = (text: string): HTMLElement[] => {
    const box = make("pre", "", text.slice(0, MAX_SHOWN));
    return text.length > MAX_SHOWN ? [make("p", "bar", "Only the beginning is shown; save the mail to see all of it."), box] : [box];
  };
  const table = (head: readonly string[], rows: readonly (readonly (Node | string)[])[]): HTMLElement =>
    make(
      "table",
      "",
      ...(head.length > 0 ? [make("thead", "", make("tr", "", ...head.map((text) => make("th", "", text))))] : []),
      make("tbody", "", ...rows.map((cells) => make("tr", "", ...cells.map((cell, i) => make(i === 0 ? "th" : "td", "", cell))))),
    );

  const sleep = (ms: number): Promise<void> => new Promise((done) => window.setTimeout(done, ms));
  const notice = (text: string, bad = false): void => {
    const line = at("notice");
    line.textContent = text;
    line.className = bad ? "bad" : "";
    window.clearTimeout(noticeTimer);
    noticeTimer = window.setTimeout(() => line.replaceChildren(), NOTICE_MS);
  };
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const answer = (await response.json()) as T & { error?: { message: string } };
    if (!response.ok) throw new Error(answer.error?.message ?? `The server answered ${response.status}.`);
    return answer;
  };
  const doing = (work: () => Promise<void>) => (): void => {
    work().catch((error: Error) => notice(error.message, true));
  };
  const ask = (question: string, yes: string, work: () => Promise<void>) => (): void => {
    const dialog = at<HTMLDialogElement>("ask");
    at("question").textContent = question;
    at("yes").textContent = yes;
    at("yes").onclick = () => {
      dialog.close();
      doing(work)();
    };
    dialog.showModal();
    at("no").focus();
  };
  return { at, make, button, link, fact, lines, table, sleep, notice, call, doing, ask };
}
export type Tools = ReturnType<typeof tools>;
