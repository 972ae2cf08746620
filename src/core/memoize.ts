/**
 * What a pure function makes of an object that never changes is made once, and kept for as long as the object is there:
 * of a long history only what is new is looked at.
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
