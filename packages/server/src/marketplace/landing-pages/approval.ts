import { and, eq } from "drizzle-orm";
import type { AgentTx } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { getBrand } from "../brand/brand.ts";
import type { PageRow } from "./address.ts";

/** Throws ApiError approval_required where the brand wants to be asked before an agent's page goes out, and has not said yes. */
export async function assertMayBeOut(tx: AgentTx, page: PageRow): Promise<void> {
  const brand = await getBrand(tx, page.workspaceId);
  if (!brand.publishNeedsApproval || (await isApproved(tx, page))) return;
  throw new ApiError("approval_required", "This brand says yes to a page before it goes out, and to each change of one that is out.", {
    details: [
      {
        path: "status",
        code: "approval_required",
        message: `Keep it as DRAFT, post an APPROVAL_REQUEST with approval.preview {"kind":"landing_page","id":"${page.id}"}, and publish after its approval_response says approved.`,
      },
    ],
  });
}

/** Whether the brand has said yes to what the page shows now: to a question asked after the last change of it. */
async function isApproved(tx: AgentTx, page: PageRow): Promise<boolean> {
  const { approvals: t } = tx.t;
  const rows = await tx
    .select({ messageId: t.messageId, preview: t.preview })
    .from(t)
    .where(and(eq(t.activationId, page.activationId ?? ""), eq(t.status, "APPROVED")));
  return rows.some(
    ({ messageId, preview }) =>
      preview?.kind === "landing_page" && preview.id === page.id && messageId.slice(messageId.indexOf("_") + 1) > page.contentMark,
  );
}
