/** Texts of the settings of a context. */

export const contextSettingsWords = {
  title: 'Settings',
  about: 'Empty fields use the value of the role, or the default.',
  /** If it is known what applies. */
  aboutEffective: 'Greyed values are inherited. Override a value to set it for this worker alone.',
  /** A field of its own; the others are those of its worker. */
  contextTitle: 'Title',
  fromRole: 'From the role',
  toolsOfRole: 'Empty: the tools of the role.',
  saved: 'Saved. The settings apply from the next step on.',

  conflict: {
    title: 'The settings were changed by someone else',
    about: 'Nothing is saved yet. Choose the values to keep, review them and save.',
    back: 'Back',
    submit: 'Use these values',
    theirs: 'Theirs',
    yours: 'Yours',
    others: 'Other changes that will be kept',
    unchanged: 'The values are unchanged; only the version is newer.',
    notSet: 'not set',
    /** An own value: no tools, an empty text. */
    empty: 'empty',
  },
} as const;
