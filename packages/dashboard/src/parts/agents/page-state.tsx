/** @jsxImportSource preact */
import type { LandingPageSummary } from "@mailsvc/sdk/contract";
import { Status } from "../status.tsx";

/** The state of a page that visitors can see once it is online. */
export function PageState({ status }: Pick<LandingPageSummary, "status">) {
  return <Status status={status} text={status === "PUBLISHED" ? "online" : "draft"} />;
}
