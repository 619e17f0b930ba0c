import type { Template } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { readAll } from "../page-reader.ts";

/** All templates of the workspace: what uses a layout or a partial is found among them. */
export function loadAllTemplates(signal: AbortSignal): Promise<Template[]> {
  return readAll((page) => api.templates.list(page, { signal }));
}

/** True if other templates include it and it is never sent itself. */
export function isPart({ type }: Pick<Template, "type">): boolean {
  return type === "layout" || type === "partial";
}

/** True if campaigns and automations can send it once it is published. */
export function isSendable({ type, kind, status }: Template): boolean {
  return !isPart({ type }) && kind !== "JSON_BLOCKS" && status === "ACTIVE";
}
