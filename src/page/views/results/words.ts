const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** A record's date in the reader's own time: `30 Nov 2026, 14:05`. */
export const dateWords = (iso: string): string => FORMAT.format(new Date(iso));
