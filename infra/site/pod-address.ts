/** The pod that the try-it page calls until the reader enters another one. */
export const POD_ADDRESS = 'http://localhost:3000';
