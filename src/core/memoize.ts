/**
 * Caches the result of a pure function per immutable object, for as long as the object is reachable. With a long
 * history only new messages are processed.
 */
export function memoize<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, { value: Made }>();
  return (of) => {
    const known = made.get(of);
    if (known !== undefined) return known.value;
    const value = make(of);
    made.set(of, { value });
    return value;
  };
}
