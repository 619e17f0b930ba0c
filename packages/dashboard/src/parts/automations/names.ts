import type { Webhook } from "@mailsvc/sdk/contract";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { useGroups } from "../campaigns/groups.ts";
import { readAll } from "../page-reader.ts";
import { useResource } from "../resource.ts";
import { loadAllTemplates } from "../templates/all.ts";
import type { Names } from "./words.ts";

/** The names of what steps can name: templates, lists, segments and webhooks, as far as the person may read them. */
export function useNames(): Names {
  const groups = useGroups();
  const others = useResource(async (signal) => {
    const [templates, webhooks] = await Promise.all([
      may("templates:read") ? loadAllTemplates(signal) : [],
      may("webhooks:read") ? readAll<Webhook>((page) => api.webhooks.list(page, { signal })) : [],
    ]);
    return [
      ...templates.map(({ id, name }): [string, string] => [id, name]),
      ...webhooks.map(({ id, description, url }): [string, string] => [id, description ?? url]),
    ];
  }, []);
  return useMemo(
    () => new Map([...(groups.data ?? []).map(({ id, name }): [string, string] => [id, name]), ...(others.data ?? [])]),
    [groups.data, others.data],
  );
}
