/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { Ledger } from "../parts/agents/ledger.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { useList, useRegularly, useResource } from "../parts/resource.ts";
import { toast } from "../parts/toast.tsx";

/** The credits of the workspace: how many are left, and the ledger. */
export default function Credits() {
  const balance = useResource((signal) => api.credits.get({ signal }), []);
  const list = useList((cursor, signal) => api.credits.list({ limit: 100, ...(cursor && { cursor }) }, { signal }), []);
  const reload = (): void => {
    balance.reload();
    list.refresh();
  };
  useRegularly(reload);
  const grant = async (values: FormValues): Promise<void> => {
    await api.credits.grant({ amount: Number(values.text("amount")), ...values.filled("description") });
    toast("Added");
    reload();
  };
  const about =
    balance.data === null ? "What agents spend on billable actions." : `${formatCount(balance.data.balance)} left for all agents.`;
  return (
    <Page
      title="Credits"
      about={about}
      actions={
        may("billing:write") ? (
          <FormButton label="Add credits" title="Add credits" submit="Add" primary act={grant}>
            <Field label="Credits">
              <input name="amount" type="number" min={1} max={1_000_000_000} step={1} required />
            </Field>
            <Field label="What for" hint="Shown in the ledger.">
              <input name="description" maxLength={200} />
            </Field>
          </FormButton>
        ) : null
      }
    >
      <Ledger list={list} />
    </Page>
  );
}
