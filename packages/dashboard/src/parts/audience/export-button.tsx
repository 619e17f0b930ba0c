/** @jsxImportSource preact */
import { useRef, useState } from "preact/hooks";
import { now } from "../../browser.ts";
import { download } from "../download.ts";
import { Field } from "../field.tsx";
import { FormButton } from "../form-button.tsx";
import { count } from "../plural.ts";
import { toast } from "../toast.tsx";
import type { ContactFilters } from "./bulk.ts";

const TYPES = { csv: "text/csv;charset=utf-8", ndjson: "application/x-ndjson" } as const;

/** Downloads the contacts that the filters match. */
export function ExportButton({ filters, filtered }: { readonly filters: ContactFilters; readonly filtered: boolean }) {
  const [contacts, setContacts] = useState(0);
  const over = useRef(new AbortController());
  const act = async (format: "csv" | "ndjson"): Promise<void> => {
    over.current = new AbortController();
    setContacts(0);
    const { exportContacts } = await import("./contact-export.ts");
    const { parts, contacts: all } = await exportContacts(format, filters, over.current.signal, setContacts);
    download(`contacts-${new Date(now()).toISOString().slice(0, 10)}.${format}`, parts, TYPES[format]);
    toast(`Exported ${count(all, "contact")}`);
  };
  return (
    <FormButton
      label="Export"
      title={filtered ? "Export the contacts that fit the filters" : "Export all contacts"}
      submit="Download"
      act={(values) => act(values.text("format") === "ndjson" ? "ndjson" : "csv")}
    >
      <Field label="Format" hint="Both can be imported again. Cells that a spreadsheet would run as a formula begin with an apostrophe.">
        <select name="format">
          <option value="csv">CSV, for spreadsheets</option>
          <option value="ndjson">NDJSON, one contact on each line</option>
        </select>
      </Field>
      <p class="soft" role="status">
        {contacts === 0 ? "" : `${count(contacts, "contact")} so far`}
      </p>
    </FormButton>
  );
}
