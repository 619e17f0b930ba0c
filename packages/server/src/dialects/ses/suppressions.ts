import { contract, Instant, type Suppression } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { drop, type Operation, readOperation, writeOperation } from "../operation.ts";

const REASONS = { BOUNCE: "bounce", COMPLAINT: "complaint" } as const;
const Reason = z.enum(["BOUNCE", "COMPLAINT"]);

/** The suppression list. Addresses that people unsubscribed, or that were suppressed by hand, have those reasons. */
export const suppressionOperations: readonly Operation[] = [
  writeOperation({
    method: "PUT",
    path: "/v2/email/suppression/addresses",
    body: z.object({ EmailAddress: z.string(), Reason }),
    run: async ({ EmailAddress: email, Reason: reason }, { write }) => {
      await write(contract.suppressions.create, { email, reason: REASONS[reason] });
      return {};
    },
  }),
  readOperation({
    path: "/v2/email/suppression/addresses",
    note: "reasons may also be UNSUBSCRIBE and MANUAL",
    query: z.object({
      Reason: z.array(Reason).max(10).optional(),
      StartDate: Instant.optional(),
      EndDate: Instant.optional(),
      NextToken: z.string().optional(),
      PageSize: z.coerce.number().int().min(1).max(1000).default(100),
    }),
    run: async ({ Reason: wanted = [], StartDate, EndDate, NextToken, PageSize }, { read }) => {
      const reasons: ReadonlySet<string> = new Set(wanted.map((reason) => REASONS[reason]));
      const [reason] = reasons.size === 1 ? wanted : [];
      const { data, pagination } = await read(contract.suppressions.list, {
        limit: Math.min(PageSize, 100),
        ...drop({ cursor: NextToken, reason: reason && REASONS[reason], since: StartDate }),
      });
      const until = EndDate === undefined ? Number.POSITIVE_INFINITY : Date.parse(EndDate);
      return {
        SuppressedDestinationSummaries: data
          .filter((one) => Date.parse(one.createdAt) < until && (reasons.size === 0 || reasons.has(one.reason)))
          .map(show),
        ...drop({ NextToken: pagination.nextCursor }),
      };
    },
  }),
  readOperation({
    path: "/v2/email/suppression/addresses/:address",
    run: async ({ address }, { read }) => {
      const suppression = await read(contract.suppressions.get, { id: address });
      const attributes = drop({ MessageId: suppression.emailId });
      return { SuppressedDestination: { ...show(suppression), ...(suppression.emailId !== null && { Attributes: attributes }) } };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/v2/email/suppression/addresses/:address",
    run: async ({ address }, { write }) => {
      await write(contract.suppressions.delete, { id: address });
      return {};
    },
  }),
];

function show({ email, reason, updatedAt }: Suppression) {
  return { EmailAddress: email, Reason: reason.toUpperCase(), LastUpdateTime: Date.parse(updatedAt) / 1000 };
}
