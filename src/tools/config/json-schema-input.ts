/** The type of the input that a JSON Schema describes: of TypeBox, or a literal in the definition of a tool. */
import type { Static } from 'typebox';
import type { Json, JsonObject } from '../../core/json.ts';

/**
 * What TypeScript can tell about a valid input. `JsonObject` if it can tell nothing: the schema is not literal (declared
 * apart without `as const`, or of type `object`), or has no properties.
 */
export type InputOf<Schema> = Schema extends { readonly type: 'object' } ? Known<Static<Schema>> : JsonObject;

/** Where the schema says nothing (`unknown`, `object`, `{}`), the value is still one that JSON can hold. */
type Known<T> = unknown extends T
  ? Json
  : T extends string | number | boolean | null | undefined
    ? T
    : keyof T extends never
      ? Unlisted<T>
      : { [Name in keyof T]: Known<T[Name]> };

type Unlisted<T> = string extends T ? Json : JsonObject;
