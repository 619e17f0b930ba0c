import type { List, Segment } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { readAll } from "../page-reader.ts";
import { type Resource, useResource } from "../resource.ts";

interface Groups {
  readonly lists: readonly List[];
  readonly segments: readonly Segment[];
}

/** All lists and segments of the workspace, to choose from. */
export function useGroups(): Resource<Groups> {
  return useResource(async (signal) => {
    const [lists, segments] = await Promise.all([
      may("lists:read") ? readAll<List>((page) => api.lists.list(page, { signal })) : [],
      may("segments:read") ? readAll<Segment>((page) => api.segments.list(page, { signal })) : [],
    ]);
    return { lists, segments };
  }, []);
}

/** The choices of a filter or a form, by name. */
export function toOptions(groups: readonly { readonly id: string; readonly name: string }[]): { value: string; text: string }[] {
  return groups.map(({ id, name }) => ({ value: id, text: name })).sort((a, b) => a.text.localeCompare(b.text));
}
