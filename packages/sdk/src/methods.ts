import type { z } from "zod";
import type { APIPromise } from "./api-promise.ts";
import type { AtLeastOne, Contract, Endpoint, FileRules, Output, Page, ParamNames } from "./contract/index.ts";
import type { CallOptions } from "./options.ts";
import type { PagePromise } from "./pagination.ts";
import type { Base64Input, FileInput } from "./upload.ts";

/** Names of path parameters for an editor's parameter hints. */
export interface PathArguments {
  id: [id: string];
  token: [token: string];
  contact: [contact: string];
  slug: [slug: string];
  runId: [runId: string];
  email: [email: string];
  delivery: [delivery: string];
}

type PathArgs<Names extends readonly string[]> = Names extends readonly [infer N, ...infer Rest extends string[]]
  ? [...(N extends keyof PathArguments ? PathArguments[N] : [param: string]), ...PathArgs<Rest>]
  : [];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Query fields are text on the wire; a method also accepts the parsed type, such as numbers and booleans. */
type QueryFields<In, Out> = Mutable<{
  [K in keyof In]: unknown extends In[K] ? (K extends keyof Out ? Out[K] : never) : In[K] | (K extends keyof Out ? Out[K] : never);
}>;

/** Names of the fields that may be absent. */
type OptionalNames<S> = { [K in keyof S]: S[K] extends { _zod: { optin: "optional" | "defaulted" } } ? K : never }[keyof S];

type RequiredFields<S, Names extends keyof S> = { [K in Names]: FieldInput<S[K]> };
type OptionalFields<S, Names extends keyof S> = { [K in Names]?: FieldInput<S[K]> };

/** The fields of an object schema. Written over its keys, unlike zod's own type, so that editors show each field's documentation. */
type ObjectInput<S> = Expand<RequiredFields<S, Exclude<keyof S, OptionalNames<S>>> & OptionalFields<S, OptionalNames<S>>>;
type Expand<T> = { [K in keyof T]: T[K] };

/** What a field accepts: a Date where the contract has an instant, bytes where it has base64, otherwise the contract's own type. */
type FieldInput<T> = T extends z.ZodISODateTime
  ? string | Date
  : T extends z.ZodBase64
    ? Base64Input
    : T extends z.ZodOptional<infer I>
      ? FieldInput<I> | undefined
      : T extends z.ZodNullable<infer I>
        ? FieldInput<I> | null
        : T extends z.ZodArray<infer I>
          ? FieldInput<I>[]
          : T extends z.ZodObject<infer S>
            ? ObjectInput<S>
            : z.input<T>;

type QueryInput<Q> = Q extends z.ZodType ? QueryFields<z.input<Q>, z.output<Q>> : unknown;
type BodyInput<B> = (B extends z.ZodObject<infer S> ? ObjectInput<S> : unknown) & NeedsOne<B>;

/** At least one of the fields that the contract marks so: html or text of a send. */
type NeedsOne<B> = B extends AtLeastOne<infer Names> ? { [K in Names]: { [P in K]: string } }[Names] : unknown;

/** An upload accepts the file itself or its base64. */
type Uploaded<I> = I | (Omit<I, "fileName" | "contentBase64"> & FileInput);

/** The input of a call besides its path parameters: the query of a GET, otherwise the body. `unknown` when there is none. */
export type InputOf<E extends Endpoint> = QueryInput<E["query"]> &
  (E["file"] extends FileRules ? Uploaded<BodyInput<E["body"]>> : BodyInput<E["body"]>);

/** The input as an argument: absent when there are no fields, optional when all fields are. */
type InputArgs<I> = unknown extends I ? [] : Record<never, never> extends I ? [input?: I] : [input: I];

/** The arguments of a method: path parameters in order, the input, options. */
export type MethodArgs<E extends Endpoint, I = InputOf<E>> = [...PathArgs<ParamNames<E["path"]>>, ...InputArgs<I>, options?: CallOptions];

type Single<E extends Endpoint> = Extract<Output<E>, { id: unknown }>;
type Batch<E extends Endpoint> = Extract<Output<E>, { ids: unknown }>;

/** A send to one recipient returns `id`, a send to an array returns `ids`; overloads tell them apart by `to`. */
export interface SendMethod<E extends Endpoint> {
  (...args: MethodArgs<E, InputOf<E> & { to: string }>): APIPromise<Single<E>>;
  (...args: MethodArgs<E, InputOf<E> & { to: string[] }>): APIPromise<Batch<E>>;
  (...args: MethodArgs<E>): APIPromise<Output<E>>;
}

/** The method of an endpoint. One with a stream gives its messages one by one, and connects again when the connection is lost. */
export type Method<E extends Endpoint> = E["stream"] extends true
  ? (...args: MethodArgs<E>) => AsyncGenerator<Output<E>, void, undefined>
  : CallMethod<E>;

type CallMethod<E extends Endpoint> =
  Output<E> extends Page<infer Item>
    ? (...args: MethodArgs<E>) => PagePromise<Item>
    : [Single<E>, Batch<E>] extends [never, unknown] | [unknown, never]
      ? (...args: MethodArgs<E>) => APIPromise<Output<E>>
      : SendMethod<E>;

/** The methods of a contract, by noun and verb. */
export type Methods<C extends Contract> = {
  readonly [Noun in keyof C]: { readonly [Verb in keyof C[Noun]]: Method<C[Noun][Verb]> };
};
