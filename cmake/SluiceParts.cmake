# sluice_part(NAME LIBRARY): the library has void sluice::part::add_NAME(Catalogue&), which makes its models known to
# boards (models/part/catalogue.h).
function(sluice_part name library)
  set_property(GLOBAL APPEND PROPERTY SLUICE_PARTS ${name})
  set_property(GLOBAL APPEND PROPERTY SLUICE_PART_LIBRARIES ${library})
endfunction()
