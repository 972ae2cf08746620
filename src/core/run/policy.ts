/**
 * Whether a person must approve a call before it runs. A rule matches tools by a glob (`*` matches any text) and sets
 * what happens to their calls. Pure: the tool's own answer is passed in.
 */

/**
 * `never`: the call runs. `always`: a person must approve it first. `deny`: it does not run, and the model gets a
 * denial.
 */
export const APPROVALS = ['never', 'always', 'deny'] as const;
/** Whether a call needs approval: `never`, `always`, or `deny`: it is refused. */
export type Approval = (typeof APPROVALS)[number];

/** Whether the calls of some tools need approval. */
export type ApprovalRule = {
  /** The name of a tool; `*` stands for any characters. */
  tool: string;
  /** What holds for its calls. */
  decision: Approval;
};

export const TOOL_GLOB = '^[a-zA-Z0-9_*-]{1,64}$';

export const MOST_RULES = 1_000;

/** What happens to a wait without an answer. Times in milliseconds; null: no limit. */
export type AskingLimits = {
  approvalMs: number | null;
  /** The decision if none is given in time. A call for which the tool itself asks is denied. */
  onExpiry: 'approve' | 'deny';
  /** For questions, and for calls that clients run. */
  answerMs: number | null;
};

/** `rules`: the context's own first, then those of its role. */
export type Asking = AskingLimits & { rules: readonly ApprovalRule[] };

export const ASKING_DEFAULTS: Asking = { approvalMs: null, onExpiry: 'deny', answerMs: null, rules: [] };

/** The rule that applies to a tool: the first match that denies, otherwise the first match; null: no match. */
export function ruleFor<Rule extends ApprovalRule>(rules: readonly Rule[], name: string): Rule | null {
  const of = rules.filter(({ tool }) => isMatch(tool, name));
  return of.find(({ decision }) => decision === 'deny') ?? of[0] ?? null;
}

/** The rules' result for a tool; null: no match. */
export function ruleOn(rules: readonly ApprovalRule[], name: string): Approval | null {
  return ruleFor(rules, name)?.decision ?? null;
}

/**
 * The stricter of the two. `own`: the tool's own decision, which is the operator's: no rule lets a call run that the
 * tool denies or asks for.
 */
export function decideApproval(ruled: Approval | null, own: Approval): Approval {
  if (own === 'deny' || ruled === 'deny') return 'deny';
  return own === 'always' ? 'always' : (ruled ?? own);
}

/** Adds a rule at the front and replaces an existing rule for the same name. */
export function withRule(rules: readonly ApprovalRule[], rule: ApprovalRule): ApprovalRule[] {
  return [rule, ...rules.filter(({ tool }) => tool !== rule.tool)];
}

/**
 * Whether the glob matches the name. Linear in both lengths: the pieces between stars are searched one after the
 * other.
 */
export function isMatch(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return glob === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - last.length;
}
