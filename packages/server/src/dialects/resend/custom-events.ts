import { CustomFields, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid } from "../../lib/api-error.ts";
import { drop } from "../drop.ts";
import { type Operation, writeOperation } from "../operation.ts";
import { idOf } from "./ids.ts";

/** Events that programs report, which start automations. */
export const customEventOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/events/send",
    note: "events need not be defined before; the contact must exist",
    body: z.object({
      event: z.string(),
      contact_id: idOf("contacts").nullish(),
      email: z.string().nullish(),
      payload: CustomFields.nullish(),
    }),
    reshape: (body) => ({ status: 202, body }),
    run: async ({ event, contact_id, email, payload }, { write }) => {
      const contact = contact_id || email;
      if (!contact) throw invalid("contact_id", "required", "Missing `contact_id` or `email` field.");
      await write(contract.events.track, { name: event, contact, ...drop({ properties: payload }) });
      return { object: "event", event };
    },
  }),
];
