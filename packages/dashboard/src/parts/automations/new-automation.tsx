/** @jsxImportSource preact */
import type { NewAutomation as Input } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { go } from "../../router.tsx";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { useResource } from "../resource.ts";
import { isSendable, loadAllTemplates } from "../templates/all.ts";

/** Makes a draft with a first step or two, and opens its editor. */
export function NewAutomation() {
  const { data } = useResource(async (signal) => (may("templates:read") ? loadAllTemplates(signal) : []), []);
  const templates = (data ?? []).filter(isSendable);
  const create = async (values: FormValues): Promise<void> => {
    const { id } = await api.automations.create({ name: values.text("name"), ...buildStart(values.text("templateId")) });
    go(`/automations/${id}/edit`);
  };
  return (
    <FormButton label="New automation" title="New automation" submit="Create the draft" primary act={create}>
      <Field label="Name">
        <input name="name" required maxLength={200} autocomplete="off" placeholder="Welcome" />
      </Field>
      <Field label="First mail" hint="Sent when a contact is created. You choose another trigger and further steps in the editor.">
        <select name="templateId">
          <option value="">None yet</option>
          {templates.map(({ id, name, version }) => (
            <option key={id} value={id}>
              {name}
              {version === null ? ", not published" : ""}
            </option>
          ))}
        </select>
      </Field>
      <p class="hint soft">Nothing happens before you activate it.</p>
    </FormButton>
  );
}

function buildStart(templateId: string): Pick<Input, "trigger" | "steps" | "connections"> {
  const trigger = { type: "contact.created" } as const;
  const wait = { id: "wait", type: "delay", for: "3d" } as const;
  if (templateId === "") return { trigger, steps: [wait], connections: [{ from: "trigger", to: "wait" }] };
  return {
    trigger,
    steps: [{ id: "welcome", type: "send_email", templateId }, wait],
    connections: [
      { from: "trigger", to: "welcome" },
      { from: "welcome", to: "wait" },
    ],
  };
}
