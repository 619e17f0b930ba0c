import type { CapturedMail, Page } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";

/** Loads captured mail, the newest first. */
export function mailSearch({ call }: Dom) {
  const PAGE = 100;

  const load = async (filter: string, count: number): Promise<{ items: CapturedMail[]; total: number }> => {
    const items: CapturedMail[] = [];
    let cursor = "";
    for (;;) {
      const page = await call<Page<CapturedMail>>("GET", `/__dev/inbox?limit=${PAGE}${filter}${cursor}`);
      items.push(...page.data);
      const { nextCursor, total } = page.pagination;
      if (nextCursor === null || items.length >= count) return { items, total };
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
    }
  };

  return {
    PAGE,
    /** All mail as far as `wanted` goes, and what of it and of older mail fits the query; without one, all of it. */
    find: async (query: string, wanted: number): Promise<{ all: CapturedMail[]; found: CapturedMail[]; total: number }> => {
      const text = encodeURIComponent(query);
      const lists = [load("", wanted)];
      // The server searches mails that are not loaded: part of a subject, or a whole address.
      if (query) lists.push(load(`&subject=${text}`, PAGE));
      if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(query)) lists.push(load(`&to=${text}`, PAGE).catch(() => ({ items: [], total: 0 })));
      const [{ items, total } = { items: [], total: 0 }, ...others] = await Promise.all(lists);
      const fits = ({ to, from, subject }: CapturedMail): boolean =>
        `${to}\n${from}\n${subject}`.toLowerCase().includes(query.toLowerCase());
      const fitting = query ? [...items.filter(fits), ...others.flatMap((other) => other.items)] : items;
      const found = [...new Map(fitting.map((mail) => [mail.id, mail])).values()].sort((a, b) => (a.id < b.id ? 1 : -1));
      return { all: items, found, total };
    },
  };
}
export type MailSearch = ReturnType<typeof mailSearch>;
