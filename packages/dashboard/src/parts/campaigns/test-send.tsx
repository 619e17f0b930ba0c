/** @jsxImportSource preact */
import type { CampaignDetail, VariantName } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { session } from "../../api/session.ts";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { count as plural } from "../plural.ts";
import { splitList } from "../split-list.ts";
import { toast } from "../toast.tsx";
import { VARIANTS } from "./states.ts";

interface Props {
  readonly campaign: CampaignDetail;
  /** Called before it is sent, to save what was typed; answers whether all of it is saved. */
  readonly before?: () => Promise<boolean>;
}

/** Sends the campaign to a few addresses, to look at it in a mail program. */
export function TestSend({ campaign: { id, abTest }, before }: Props) {
  const send = async (values: FormValues): Promise<void> => {
    if ((await before?.()) === false) throw new Error("Some fields are not saved yet: see what is wrong with them.");
    const variant = values.text("variant");
    const { count } = await api.campaigns.test(id, {
      to: splitList(values.text("to")),
      ...values.filled("contact"),
      ...(variant !== "" && { variant: variant as VariantName }),
    });
    toast(`${plural(count, "test")} sent${session.peek()?.dev ? ": see the inbox" : ""}`);
  };
  return (
    <FormButton label="Send a test" title="Send a test" submit="Send" act={send}>
      <Field label="To" hint="Up to five addresses. The subject begins with [Test], and nothing is counted.">
        <input name="to" required autocomplete="off" spellcheck={false} placeholder="me@example.com" />
      </Field>
      <Field label="As it looks to" hint="The address of a contact whose fields are filled in; empty for the contact of each address.">
        <input name="contact" type="email" autocomplete="off" spellcheck={false} placeholder="ada@example.com" />
      </Field>
      {abTest === null ? null : (
        <Field label="Variant">
          <select name="variant">
            <option value="">All of them</option>
            {VARIANTS.slice(0, abTest.variants.length).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      )}
    </FormButton>
  );
}
