/** @jsxImportSource preact */
import { useState } from "preact/hooks";

// Size limit for a browser. Larger files are for the command line.
const MAX_BYTES = 100_000_000;

/** Area to choose or drop a file. */
export function ChooseFile({ take }: { readonly take: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const check = (file: File | undefined): void => {
    if (!file) return;
    const large = file.size > MAX_BYTES;
    setFault(large ? `${file.name} has more than 100 MB. Import it by the command line: mailsvc contacts import ${file.name}` : null);
    if (!large) take(file);
  };
  return (
    <div
      class={`drop${over ? " over" : ""}`}
      role="region"
      aria-label="The file"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        check(event.dataTransfer?.files[0]);
      }}
    >
      <label class="button primary">
        Choose a file
        <input
          type="file"
          class="hidden"
          accept=".csv,.tsv,.txt,.ndjson,.jsonl,text/csv,application/x-ndjson"
          onChange={({ currentTarget }) => check(currentTarget.files?.[0])}
        />
      </label>
      <p>or drop it here</p>
      <p class="soft">CSV with a line of column names, or NDJSON; up to 100 MB. Separator, encoding and columns are detected.</p>
      {fault === null ? null : (
        <p class="wrong" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}
