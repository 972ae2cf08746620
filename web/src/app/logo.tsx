/** The Nightshift logo: a moon. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4f46e5" />
      <path d="M21.6 19.4A8.2 8.2 0 0 1 12.6 8.3a8.6 8.6 0 1 0 11.1 11.1 8 8 0 0 1-2.1 0Z" fill="#fff" />
    </svg>
  );
}
