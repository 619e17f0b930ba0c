/** @jsxImportSource preact */
import type { MailBlock } from "@mailsvc/sdk/contract";
import { BLOCK_LIMITS } from "@mailsvc/sdk/contract/facts";
import { Field } from "../field.tsx";
import { PictureInput } from "./picture-input.tsx";
import { AddressInput, LineInput, PassageInput } from "./text-inputs.tsx";
import type { VariableChoice } from "./variables.ts";

interface Props {
  readonly block: MailBlock;
  readonly variables: readonly VariableChoice[];
  /** The server's message about a field; empty without one. */
  readonly message: (field: string) => string;
  /** Changes fields; those of `step` are undone together. */
  readonly change: (fields: object, step: string) => void;
  /** Sets the number of columns. */
  readonly resize: (count: number) => void;
}

/** The fields of a block. */
export function BlockFields({ block, variables, message, change, resize }: Props) {
  const set = (field: string) => (value: unknown) => change({ [field]: value }, field);
  const words = (field: string) => ({ variables, error: message(field), change: set(field) });
  switch (block.type) {
    case "heading":
      return (
        <>
          <LineInput label="Heading" value={block.text} max={BLOCK_LIMITS.heading} {...words("text")} />
          <div class="fields-row">
            <Field label="Size">
              <select value={block.level ?? 2} onChange={({ currentTarget }) => set("level")(Number(currentTarget.value))}>
                <option value={1}>Large</option>
                <option value={2}>Medium</option>
                <option value={3}>Small</option>
              </select>
            </Field>
            <Alignment value={block.align} set={set("align")} />
          </div>
        </>
      );
    case "text":
      return (
        <>
          <PassageInput
            label="Text"
            value={block.text}
            max={BLOCK_LIMITS.text}
            hint="An empty line begins a new paragraph. Lines that begin with - are a list."
            {...words("text")}
          />
          <div class="fields-row">
            <Field label="Size">
              <select value={block.size ?? "normal"} onChange={({ currentTarget }) => set("size")(currentTarget.value)}>
                <option value="normal">Normal</option>
                <option value="small">Small print</option>
              </select>
            </Field>
            <Alignment value={block.align} set={set("align")} />
          </div>
        </>
      );
    case "image":
      return <ImageFields {...{ variables, message, change, resize }} block={block} />;
    case "button":
      return (
        <>
          <LineInput label="Words" value={block.label} max={BLOCK_LIMITS.label} {...words("label")} />
          <AddressInput label="Link" value={block.href} max={BLOCK_LIMITS.href} {...words("href")} />
          <div class="fields-row">
            <ButtonColor value={block.color} set={set("color")} />
            <Alignment value={block.align} set={set("align")} />
          </div>
        </>
      );
    case "columns":
      return (
        <Field label="Columns" hint="On phones they stand one below the other.">
          <select value={block.columns.length} onChange={({ currentTarget }) => resize(Number(currentTarget.value))}>
            <option value={2}>Two</option>
            <option value={3}>Three</option>
          </select>
        </Field>
      );
    case "spacer":
      return (
        <Field label="Height in pixels" error={message("height")}>
          <input
            type="number"
            min={4}
            max={BLOCK_LIMITS.height}
            value={block.height ?? 24}
            onChange={({ currentTarget }) => set("height")(clamp(currentTarget.valueAsNumber, 4, BLOCK_LIMITS.height, 24))}
          />
        </Field>
      );
    case "divider":
      return <p class="soft">A line between what is above and below it.</p>;
  }
}

function ImageFields({ block, variables, message, change }: Props & { readonly block: Extract<MailBlock, { type: "image" }> }) {
  const set = (field: string) => (value: unknown) => change({ [field]: value }, field);
  return (
    <>
      <PictureInput block={block} variables={variables} error={message("src")} change={(fields) => change(fields, "")} />
      <LineInput
        label="Description"
        value={block.alt}
        max={BLOCK_LIMITS.alt}
        variables={variables}
        hint="For people who do not see it. Empty if it is decoration."
        error={message("alt")}
        change={set("alt")}
      />
      <AddressInput
        label="Link, if it is one"
        value={block.href ?? ""}
        max={BLOCK_LIMITS.href}
        variables={variables}
        error={message("href")}
        change={(href) => change({ href: href === "" ? undefined : href }, "href")}
      />
      <div class="fields-row">
        <Field label="Width in pixels" hint="Empty for all the room there is." error={message("width")}>
          <input
            type="number"
            min={16}
            max={BLOCK_LIMITS.width}
            value={block.width ?? ""}
            onChange={({ currentTarget: { valueAsNumber } }) =>
              set("width")(Number.isNaN(valueAsNumber) ? undefined : clamp(valueAsNumber, 16, BLOCK_LIMITS.width, BLOCK_LIMITS.width))
            }
          />
        </Field>
        <Alignment value={block.align} set={set("align")} />
      </div>
    </>
  );
}

function Alignment({ value, set }: { readonly value: string | undefined; readonly set: (value: unknown) => void }) {
  return (
    <Field label="Stands">
      <select
        value={value ?? "start"}
        onChange={({ currentTarget }) => set(currentTarget.value === "start" ? undefined : currentTarget.value)}
      >
        <option value="start">at the start</option>
        <option value="center">in the middle</option>
        <option value="end">at the end</option>
      </select>
    </Field>
  );
}

// The browser's field for colors cannot be empty.
const FIRST_COLOR = "#2f5bea";

function ButtonColor({ value, set }: { readonly value: string | undefined; readonly set: (value: unknown) => void }) {
  return (
    <fieldset class="field">
      <legend>Color</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={value === undefined}
          onChange={({ currentTarget }) => set(currentTarget.checked ? undefined : FIRST_COLOR)}
        />{" "}
        That of the brand
      </label>
      {value === undefined ? null : (
        <input type="color" aria-label="Color of the button" value={value} onInput={({ currentTarget }) => set(currentTarget.value)} />
      )}
    </fieldset>
  );
}

function clamp(value: number, least: number, most: number, otherwise: number): number {
  return Number.isNaN(value) ? otherwise : Math.round(Math.min(most, Math.max(least, value)));
}
