/**
 * Whether a person is asked before a call is run. A rule names tools by a glob (`*` stands for any text) and says what
 * becomes of their calls. Pure: what a tool says itself is given in.
 */

/** `never`: it is run. `always`: a person is asked first. `deny`: it is not run, and the model is told. */
export const APPROVALS = ['never', 'always', 'deny'] as const;
export type Approval = (typeof APPROVALS)[number];

export type ApprovalRule = { tool: string; decision: Approval };

/** A glob as rules name tools. */
export const TOOL_GLOB = '^[a-zA-Z0-9_*-]{1,64}$';

/** Rules of one list. */
export const MOST_RULES = 1_000;

/** What becomes of a wait that nobody ends. Times in milliseconds; null: it lasts for as long as it takes. */
export type AskingLimits = {
  approvalMs: number | null;
  /** The decision where nobody gave one in time. */
  onExpiry: 'approve' | 'deny';
  /** Of questions, and of what clients run. */
  answerMs: number | null;
};

/** `rules`: the context's own first, then those of its role. */
export type Asking = AskingLimits & { rules: readonly ApprovalRule[] };

export const ASKING_DEFAULTS: Asking = { approvalMs: null, onExpiry: 'deny', answerMs: null, rules: [] };

/** What rules say of a tool: `deny` wherever it stands, else the first that names it; null: none does. */
export function ruleOn(rules: readonly ApprovalRule[], name: string): Approval | null {
  const of = rules.filter(({ tool }) => isMatch(tool, name));
  return of.some(({ decision }) => decision === 'deny') ? 'deny' : (of[0]?.decision ?? null);
}

/** `own`: what the tool says itself. Nobody takes back a `deny`; else rules go before the tool. */
export function decideApproval(ruled: Approval | null, own: Approval): Approval {
  return own === 'deny' ? 'deny' : (ruled ?? own);
}

/** The rules with one more, which goes before them and takes the place of one on the same name. */
export function withRule(rules: readonly ApprovalRule[], rule: ApprovalRule): ApprovalRule[] {
  return [rule, ...rules.filter(({ tool }) => tool !== rule.tool)];
}

/** Whether a glob names it; in time that grows with both lengths only: the pieces between stars are looked for one after the other. */
export function isMatch(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return glob === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - last.length;
}
