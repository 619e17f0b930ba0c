/** @jsxImportSource preact */
import type { BrandSettings } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";

export type BrandChange = Parameters<typeof api.brand.update>[0];

export interface BrandProps {
  readonly brand: BrandSettings;
  readonly save: (change: BrandChange) => Promise<void>;
}

interface Props {
  readonly title: string;
  /** Buttons that change it, for those who may. */
  readonly actions: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of the brand, with the buttons that change it. */
export function BrandSection({ title, actions, children }: Props) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="what">
        <h2 id={id}>{title}</h2>
        {may("brand:write") ? <div class="buttons">{actions}</div> : null}
      </div>
      <div class="stack">{children}</div>
    </section>
  );
}
