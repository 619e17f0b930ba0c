import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Mailsvc } from "./index.ts";

/** A client of a list of numbered jobs, and the queries it was asked. */
const setUp = (total: number, size: number, next = (end: number): string | null => (end < total ? `c${end}` : null)) => {
  const asked: string[] = [];
  const client = new Mailsvc({
    baseUrl: "http://mail.test",
    maxRetries: 0,
    fetch: async (url) => {
      const { search, searchParams } = new URL(url);
      asked.push(search);
      if (asked.length > 100) throw new Error("Far more pages were asked for than there are.");
      const start = Number(searchParams.get("cursor")?.slice(1) ?? 0);
      const end = Math.min(total, start + size);
      const data = Array.from({ length: end - start }, (_, i) => ({ id: String(start + i) }));
      return Response.json({ data, pagination: { page: 1, limit: size, total, nextCursor: next(end), hasMore: end < total } });
    },
  });
  return { client, asked };
};

const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

describe("a list", () => {
  test("gives one page when it is awaited", async () => {
    const { client, asked } = setUp(5, 2);
    const page = await client.jobs.list({ limit: 2 });
    expect(ids(page.data)).toEqual(["0", "1"]);
    expect(page.pagination.nextCursor).toBe("c2");
    expect(asked).toEqual(["?limit=2"]);
  });

  test("gives every item when it is walked, keeping the filters and leaving the page number behind", async () => {
    const { client, asked } = setUp(5, 2);
    const seen: string[] = [];
    for await (const job of client.jobs.list({ state: "dead", page: 1 })) seen.push(job.id);
    expect(seen).toEqual(["0", "1", "2", "3", "4"]);
    expect(asked).toEqual(["?state=dead&page=1", "?state=dead&cursor=c2", "?state=dead&cursor=c4"]);
  });

  test("asks for pages only as they are needed", async () => {
    const { client, asked } = setUp(100, 10);
    for await (const job of client.jobs.list()) if (job.id === "12") break;
    expect(asked).toHaveLength(2);
    const list = client.jobs.list();
    expect(ids(await list.toArray({ max: 10 }))).toHaveLength(10);
    expect(asked).toHaveLength(3);
    expect((await list).data).toHaveLength(10);
    expect(asked).toHaveLength(3);
  });

  test("gives pages one by one", async () => {
    const sizes: number[] = [];
    for await (const page of setUp(5, 2).client.jobs.list().pages()) sizes.push(page.data.length);
    expect(sizes).toEqual([2, 2, 1]);
  });

  test("collects all items, or the first few, whatever the sizes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 7 }), fc.nat(40), async (total, size, max) => {
        const { client, asked } = setUp(total, size);
        expect(ids(await client.jobs.list().toArray({ max }))).toEqual(Array.from({ length: Math.min(total, max) }, (_, i) => String(i)));
        expect(asked.length).toBeLessThanOrEqual(Math.max(1, Math.ceil(max / size)));
      }),
      { numRuns: 50 },
    );
  });

  test("stops with an error when the server sends it round in circles", async () => {
    const { client, asked } = setUp(4, 2, (end) => (end === 2 ? "c2" : "c0"));
    await expect(client.jobs.list().toArray()).rejects.toThrow("returned the same cursor twice");
    expect(asked.length).toBeLessThan(6);
  });

  test("takes a maximum of 0 or more", async () => {
    await expect(setUp(4, 2).client.jobs.list().toArray({ max: -1 })).rejects.toThrow("max must be a number, 0 or more");
    expect(await setUp(4, 2).client.jobs.list().toArray({ max: 0 })).toEqual([]);
  });

  test("fails where the page that failed would have come, and obeys the signal on every page", async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const walk = async () => {
      for await (const job of setUp(9, 2).client.jobs.list({}, { signal: controller.signal })) {
        seen.push(job.id);
        if (job.id === "3") controller.abort();
      }
    };
    await expect(walk()).rejects.toMatchObject({ name: "AbortError" });
    expect(seen).toEqual(["0", "1", "2", "3"]);
  });
});
