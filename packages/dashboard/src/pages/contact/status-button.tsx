/** @jsxImportSource preact */
import type { Contact } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { toast } from "../../parts/toast.tsx";

interface Props {
  readonly contact: Contact;
  readonly done: () => void;
}

/** Unsubscribes a person, or subscribes them again, and says first what that means. */
export function StatusButton({ contact: { id, email, status }, done }: Props) {
  const set = (next: "SUBSCRIBED" | "UNSUBSCRIBED", said: string) => async (): Promise<void> => {
    await api.contacts.update(id, { status: next });
    toast(said);
    done();
  };
  if (status === "SUBSCRIBED")
    return (
      <ConfirmButton label="Unsubscribe" question={`Unsubscribe ${email}?`} act={set("UNSUBSCRIBED", "Unsubscribed")}>
        <p>
          This stops marketing mail to {email}: campaigns and automations skip the person, and the address is suppressed for marketing, even
          if the contact is deleted and added again. Receipts and other mail that must arrive can still be sent.
        </p>
      </ConfirmButton>
    );
  return (
    <ConfirmButton label="Subscribe again" question={`Subscribe ${email} again?`} act={set("SUBSCRIBED", "Subscribed again")}>
      <p>
        Only if the person asked for it. Campaigns and automations are sent to {email} again, and the suppression for marketing is removed.
        An address that bounced or reported spam has to be removed from the suppressions first.
      </p>
    </ConfirmButton>
  );
}
