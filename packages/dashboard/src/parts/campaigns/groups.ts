import type { Campaign, CampaignDetail } from "@mailsvc/sdk/contract";
import { useMemo } from "preact/hooks";
import { useGroups as useListsAndSegments } from "../audience/groups.ts";
import type { Resource } from "../resource.ts";

/** A list or a segment. */
export interface Group {
  readonly id: string;
  readonly type: "list" | "segment";
  readonly name: string;
  readonly memberCount: number;
}

/** The lists and segments of the workspace, in one row. */
export function useGroups(): Resource<readonly Group[]> {
  const { data, ...rest } = useListsAndSegments();
  const groups = useMemo(
    () =>
      data && [
        ...data.lists.map(({ id, name, memberCount }) => ({ id, type: "list" as const, name, memberCount })),
        ...data.segments.map(({ id, name, memberCount }) => ({ id, type: "segment" as const, name, memberCount })),
      ],
    [data],
  );
  return { ...rest, data: groups };
}

/** The ids of the lists and segments that get a campaign, whichever way it says so. */
export function listIncluded({ recipientType, listId, segmentId, include }: Campaign): readonly string[] {
  if (recipientType === "list") return listId === null ? [] : [listId];
  if (recipientType === "segment") return segmentId === null ? [] : [segmentId];
  return recipientType === "groups" ? include : [];
}

const RESEND = {
  not_opened: "Those who did not open the earlier campaign",
  not_clicked: "Those who did not click in the earlier campaign",
  failed: "Those whom the earlier campaign did not reach",
} as const;

/** Describes the audience of a campaign in a few words. */
export function describeAudience(campaign: Campaign, groups: readonly Group[]): string {
  const { recipientType, resendOf, exclude } = campaign;
  const without = exclude.length === 0 ? "" : `, without ${describeGroups(exclude, groups)}`;
  if (recipientType === "all") return `All contacts${without}`;
  if (recipientType === "resend") return `${resendOf === null ? "An earlier campaign" : RESEND[resendOf.to]}${without}`;
  const included = listIncluded(campaign);
  return included.length === 0 ? "Nobody yet" : `${describeGroups(included, groups)}${without}`;
}

/** The names of lists and segments; a number of them where names are not known. */
function describeGroups(ids: readonly string[], groups: readonly Group[]): string {
  const names = ids.map((id) => groups.find((group) => group.id === id)?.name);
  if (names.every((name) => name !== undefined) && names.length <= 3) return names.join(", ");
  const lists = ids.filter((id) => id.startsWith("list_")).length;
  const segments = ids.length - lists;
  const words = [lists === 1 ? "1 list" : `${lists} lists`, segments === 1 ? "1 segment" : `${segments} segments`];
  return words.filter((_, i) => (i === 0 ? lists : segments) > 0).join(" and ");
}

/** The lists and segments that a campaign itself names. */
export function listNamedGroups({ list, segment, included, excluded }: CampaignDetail): readonly Group[] {
  return [list, segment, ...included, ...excluded].filter((group) => group !== null);
}
