/** A question to a person, asked by a model with the built-in tool `ask_user`. */
import { isJsonObject, type Json } from '../json.ts';

/** The tool's name. No other tool may have it. */
export const ASK_USER = 'ask_user';

/** `choices`: suggested by the model; any other answer is accepted too. */
export type Question = { question: string; choices: string[] | null };

/** Null: the arguments of the call contain no valid question. */
export function parseQuestion(input: Json): Question | null {
  if (!isJsonObject(input)) return null;
  const { question, choices = null } = input;
  if (typeof question !== 'string' || question === '') return null;
  if (choices === null) return { question, choices };
  if (!Array.isArray(choices)) return null;
  const texts = choices.filter((choice) => typeof choice === 'string');
  return texts.length === choices.length ? { question, choices: texts } : null;
}
