/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { go } from "../../router.tsx";
import { ActionButton } from "../action-button.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { toast } from "../toast.tsx";

interface Props {
  readonly campaign: CampaignDetail;
}

/** Makes a draft with the same fields, and opens it. */
export function DuplicateCampaign({ campaign: { id } }: Props) {
  const act = async (): Promise<void> => {
    const copy = await api.campaigns.duplicate(id, {});
    toast("This is the copy");
    go(`/campaigns/${copy.id}/edit`);
  };
  return <ActionButton label="Duplicate" act={act} />;
}

/** Deletes a campaign that has not started. */
export function DeleteCampaign({ campaign: { id, name } }: Props) {
  const act = async (): Promise<void> => {
    await api.campaigns.delete(id);
    toast("Deleted");
    go("/campaigns");
  };
  return (
    <ConfirmButton label="Delete" question={`Delete ${name}?`} danger act={act}>
      <p>Nothing of it was sent. This cannot be undone.</p>
    </ConfirmButton>
  );
}
