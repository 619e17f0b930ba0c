import type { Session } from "../session.ts";
import { activationViews } from "./activations.ts";
import { brandViews } from "./brand.ts";
import { contactViews } from "./contacts.ts";
import { creditViews } from "./credits.ts";
import { deliveryViews } from "./deliveries.ts";
import { emailViews } from "./emails.ts";
import { fileViews } from "./files.ts";
import { inboxViews } from "./inbox.ts";
import { listingViews } from "./listings.ts";
import { listViews } from "./lists.ts";
import { messageViews } from "./messages.ts";
import { pageViews } from "./pages.ts";
import { runViews } from "./runs.ts";
import { segmentViews } from "./segments.ts";
import { serverViews } from "./server.ts";
import { suppressionViews } from "./suppressions.ts";
import type { Column } from "./table.ts";
import { templateViews } from "./templates.ts";
import { worldViews } from "./world.ts";

/** How people see an answer: a table for lists, text for single things. What is missing here is shown generically. */
export interface View {
  columns?: readonly Column<never>[];
  /** What is said of a list without anything in it, and where to begin. */
  empty?: string;
  /** The command that leads on from a list. */
  next?(rows: readonly never[], session: Session): string | undefined;
  object?(data: never, session: Session): string;
}

/** Views by endpoint: `emails.list`. */
export const VIEWS: Readonly<Record<string, View>> = {
  ...emailViews,
  ...templateViews,
  ...contactViews,
  ...listViews,
  ...segmentViews,
  ...suppressionViews,
  ...listingViews,
  ...activationViews,
  ...brandViews,
  ...deliveryViews,
  ...messageViews,
  ...runViews,
  ...creditViews,
  ...fileViews,
  ...pageViews,
  ...inboxViews,
  ...serverViews,
  ...worldViews,
};
