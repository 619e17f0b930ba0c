/** @jsxImportSource preact */
import type { AutomationDetail } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { go, toHref } from "../../router.tsx";
import { ActionButton } from "../action-button.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { startShown } from "../current.ts";
import { count as plural } from "../plural.ts";
import { toast } from "../toast.tsx";

interface Props {
  readonly automation: AutomationDetail;
  /** Number of contacts inside now. */
  readonly inside: number;
  readonly done: () => void;
}

/** Actions for an automation in its state. */
export function AutomationActions({ automation: { id, name, status, archivedAt, steps, revision }, inside, done }: Props) {
  const act = (change: () => Promise<unknown>, said: string) => async (): Promise<void> => {
    await change();
    toast(said);
    done();
  };
  const remove = async (): Promise<void> => {
    await api.automations.delete(id);
    toast("Deleted");
    go("/automations");
  };
  if (archivedAt !== null)
    return (
      <>
        <ActionButton label="Unarchive" primary act={act(() => api.automations.unarchive(id), "It is back")} />
        <Delete name={name} inside={inside} act={remove} />
      </>
    );
  return (
    <>
      {status === "ACTIVE" ? (
        <ConfirmButton label="Pause" question={`Pause ${name}?`} act={act(() => api.automations.pause(id), "Paused")}>
          <p>
            Nobody enters, and {inside === 1 ? "the contact that is inside stays" : `the ${plural(inside, "contact")} inside stay`} where
            they are. What becomes due meanwhile is done once it is active again.
          </p>
        </ConfirmButton>
      ) : (
        <ConfirmButton
          label={status === "PAUSED" ? "Resume" : "Activate"}
          question={`${status === "PAUSED" ? "Resume" : "Activate"} ${name}?`}
          primary
          act={act(() => startShown(() => api.automations.activate(id, { revision }), done), "Active")}
        >
          <p>
            {status === "PAUSED"
              ? `What became due meanwhile is done at once, for ${plural(inside, "contact")} inside.`
              : "Contacts enter from now on; those that were there before do not. Templates are sent in the version that is published now."}
          </p>
        </ConfirmButton>
      )}
      <a class="button" href={toHref(`/automations/${id}/edit`)}>
        {steps.length === 0 ? "Add steps" : "Edit"}
      </a>
      {status === "ACTIVE" ? null : (
        <>
          <ConfirmButton label="Archive" question={`Archive ${name}?`} act={act(() => api.automations.archive(id), "Archived")}>
            <p>
              Lists leave it out, and it cannot be changed. Its numbers stay, and{" "}
              {inside === 1 ? "so does the contact" : `so do the ${plural(inside, "contact")}`} inside.
            </p>
          </ConfirmButton>
          <Delete name={name} inside={inside} act={remove} />
        </>
      )}
    </>
  );
}

function Delete({ name, inside, act }: { readonly name: string; readonly inside: number; readonly act: () => Promise<void> }) {
  return (
    <ConfirmButton label="Delete" question={`Delete ${name}?`} danger act={act}>
      <p>
        Its numbers and the history of all who were inside are deleted
        {inside === 0 ? "" : `, and ${plural(inside, "contact")} inside ${inside === 1 ? "ends" : "end"} here`}. This cannot be undone.
      </p>
    </ConfirmButton>
  );
}
