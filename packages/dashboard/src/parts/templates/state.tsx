/** @jsxImportSource preact */
import type { Template } from "@mailsvc/sdk/contract";
import { Status } from "../status.tsx";

/** Publication state of a template; shows if its draft differs. */
export function TemplateState({ template: { status, version, hasUnpublishedChanges } }: { readonly template: Template }) {
  if (status === "INACTIVE") return <Status status="archived" />;
  if (version === null) return <Status status="draft" />;
  return hasUnpublishedChanges ? (
    <Status status="warn" text={`v${version}, draft differs`} />
  ) : (
    <Status status="published" text={`v${version}`} />
  );
}
