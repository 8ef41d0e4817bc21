/** Pixels of a drawing for links: what those who show one expect. */
export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630
