# cmake -DINPUT=FILE -DOUTPUT=FILE -P EmbedText.cmake: a text as a string literal of
# C++, for #include.
file(READ ${INPUT} _text)
file(WRITE ${OUTPUT} "R\"text(${_text})text\"\n")
