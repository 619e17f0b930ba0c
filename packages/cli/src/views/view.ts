import type { Column } from "../text/table.ts";
import type { Session } from "../types.ts";

/** Display of a response for people: a table for lists, text for single objects. Endpoints without a view are shown generically. */
export interface View {
  columns?: readonly Column<never>[];
  /** Shown for an empty list: what it would hold and how to start. */
  empty?: string;
  /** The command that follows a list. */
  next?(rows: readonly never[], session: Session): string | undefined;
  object?(data: never, session: Session): string;
}
