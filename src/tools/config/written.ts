/** Types of what may be written in the config file, derived from schemas and from the types of the core. */
import type { Static, TProperties } from 'typebox';

/** Nothing needs to be mutable, and a field that may be missing may be `undefined`. JSON may be of any type. */
export type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? string extends keyof T
      ? WrittenRecord<T[keyof T]>
      : { readonly [Name in keyof T]: Written<T[Name]> | (object extends Pick<T, Name> ? undefined : never) }
    : T;

type WrittenRecord<Value> = Value extends string ? Readonly<Record<string, string>> : object;

/** Of the members of a schema that may all be missing. Their comments are shown by editors. */
export type WrittenMembers<Members extends TProperties> = {
  readonly [Name in keyof Members]?: Written<Static<Members[Name]>> | undefined;
};
