import type { List, Page, Segment } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { type Resource, useResource } from "../resource.ts";

interface Groups {
  readonly lists: readonly List[];
  readonly segments: readonly Segment[];
}

// More are not offered in a choice.
const MAX_PAGES = 10;

/** All lists and segments of the workspace, to choose from. */
export function useGroups(): Resource<Groups> {
  return useResource(async (signal) => {
    const [lists, segments] = await Promise.all([
      may("lists:read") ? loadAll((cursor) => api.lists.list({ limit: 100, ...cursor }, { signal })) : [],
      may("segments:read") ? loadAll((cursor) => api.segments.list({ limit: 100, ...cursor }, { signal })) : [],
    ]);
    return { lists, segments };
  }, []);
}

async function loadAll<Item>(load: (cursor: { cursor?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: string | null = null;
  for (let n = 0; n < MAX_PAGES; n += 1) {
    const { data, pagination }: Page<Item> = await load(cursor === null ? {} : { cursor });
    all.push(...data);
    cursor = pagination.nextCursor;
    if (cursor === null) break;
  }
  return all;
}

/** The choices of a filter or a form, by name. */
export function toOptions(groups: readonly { readonly id: string; readonly name: string }[]): { value: string; text: string }[] {
  return groups.map(({ id, name }) => ({ value: id, text: name })).sort((a, b) => a.text.localeCompare(b.text));
}
