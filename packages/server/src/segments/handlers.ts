import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { SegmentDeps } from "./deps.ts";
import { listSegmentContacts, previewSegment } from "./query.ts";
import { createSegment, deleteSegment, getSegment, listSegments, updateSegment } from "./segments.ts";

export const segmentHandlers: Handlers<typeof contract.segments, SegmentDeps> = {
  list: (input, { read, workspaceId }) => listSegments(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createSegment(tx, deps, workspaceId, input),
  // A read with a body, since rules are too long for a query string; all of it happens before the transaction.
  preview: {
    prepare: (input, { read, deps, workspaceId }) => previewSegment(read, deps, workspaceId, input),
    run: (_input, _context, found: Awaited<ReturnType<typeof previewSegment>>) => Promise.resolve(found),
  },
  get: ({ id }, { read, workspaceId }) => getSegment(read, workspaceId, id),
  update: ({ id, ...input }, { tx, deps, workspaceId }) => updateSegment(tx, deps, workspaceId, id, input),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteSegment(tx, deps, workspaceId, id),
  contacts: ({ id, ...input }, { read, deps, workspaceId }) => listSegmentContacts(read, deps, workspaceId, id, input),
};
