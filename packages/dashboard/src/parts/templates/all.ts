import type { Template } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";

// A workspace has some dozens of templates. Of one with more, this many are looked at.
const MAX_PAGES = 20;

/** All templates of the workspace: what uses a layout or a partial is found among them. */
export async function loadAllTemplates(signal: AbortSignal): Promise<Template[]> {
  const all: Template[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { data, pagination }: Awaited<ReturnType<typeof api.templates.list>> = await api.templates.list(
      { limit: 100, ...(cursor !== null && { cursor }) },
      { signal },
    );
    all.push(...data);
    cursor = pagination.nextCursor;
    if (cursor === null) break;
  }
  return all;
}

/** Whether it stands in other templates instead of being sent. */
export function isPart({ type }: Pick<Template, "type">): boolean {
  return type === "layout" || type === "partial";
}
