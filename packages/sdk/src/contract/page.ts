import { describeDate } from "./dates.ts";
import * as z from "./zod.ts";

/** An instant on the wire: ISO 8601, UTC, milliseconds. */
export const Instant = z.iso
  .datetime({ offset: true, error: describeDate("Write an ISO 8601 date and time with its zone, such as 2030-01-31T09:30:00Z.") })
  .meta({ description: "ISO 8601 instant", examples: ["2026-01-31T09:30:00.000Z"] });

/** A day on the wire. */
export const LocalDate = z.iso.date({ error: describeDate("Write a date such as 2030-01-31.") }).meta({ examples: ["2026-01-31"] });

/** The largest number of a column of integers. */
export const MAX_INTEGER = 2_147_483_647;

/** Query fields of every list: `page` counts from 1, `limit` is 1 to 100. `cursor` replaces `page` and stays stable under inserts. */
export const pageQuery = {
  page: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(1)
    .meta({ description: "Page number, from 1; a page behind the end is empty" }),
  limit: z.coerce.number().int().min(1).max(100).default(20).meta({ description: "Items per page, 1 to 100" }),
  cursor: z.string().max(200).optional().meta({ description: "Continue after this cursor (pagination.nextCursor); replaces page" }),
};

export const Pagination = z
  .object({
    page: z.int(),
    limit: z.int(),
    total: z.int(),
    /** Present when counting all would take too long: there are at least `total` items. */
    totalIsMinimum: z.literal(true).optional(),
    /**
     * Present where a filter has no index: how many entries were looked at for this page. It may be short, or empty, while `hasMore` is
     * true: go on with `nextCursor`.
     */
    examined: z.int().optional(),
    totalPages: z.int(),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "Pagination" });
export type Pagination = z.infer<typeof Pagination>;

/** The response body of a list. */
export function pageSchema<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), pagination: Pagination });
}

export interface Page<T> {
  data: T[];
  pagination: Pagination;
}
